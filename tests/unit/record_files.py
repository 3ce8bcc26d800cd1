"""Small files in the formats of the three records, made of what laws predict."""

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
from scipy.io import savemat

E_TRUE, MU_TRUE = 0.55, 0.2
MASS, GYRATION, MAJOR, MINOR = 0.0364, 0.0192, 0.035, 0.025


def ellipse_rows(count=60, seed=3):
    """States before and after by Poisson's law, and Jacobians; vx as it stands in the record: reversed."""
    import jax
    import jax.numpy as jnp

    import carom

    rng = np.random.default_rng(seed)
    angle = rng.uniform(-np.pi, np.pi, count)
    height = np.hypot(MAJOR * np.sin(angle), MINOR * np.cos(angle))
    lever = -(MAJOR**2 - MINOR**2) * np.sin(angle) * np.cos(angle) / height
    n = np.stack([np.zeros(count), np.ones(count), lever], axis=1)
    d = np.stack([np.ones(count), np.zeros(count), height], axis=1)
    v = np.stack([rng.uniform(-0.5, 0.5, count), -rng.uniform(2.0, 3.0, count), rng.normal(0.0, 8.0, count)], axis=1)
    v[:, 1] -= np.maximum((n * v).sum(1) + 1.0, 0.0)  # every contact approaches
    inertia = jnp.diag(MASS * jnp.array([1.0, 1.0, GYRATION**2]))
    after = jax.vmap(
        lambda n, d, v: carom.contact.rubbing_blow(inertia, n, d, v, carom.Poisson(E_TRUE), MU_TRUE).velocity
    )(n, d, v)
    mirror = np.array([-1.0, 1.0, 1.0])
    pose = np.stack([np.zeros(count), 2.0 * height, angle], axis=1)
    first = np.concatenate([pose, v * mirror], axis=1)
    return {"states_i": first, "states_f": np.concatenate([pose, np.asarray(after) * mirror], axis=1), "n": n, "d": d}


def write_ellipse(folder, rows):
    place = Path(folder) / "processed_data"
    place.mkdir(parents=True, exist_ok=True)
    savemat(place / "data_ellipse.mat", {"data": rows})
    count = len(next(iter(rows.values())))
    savemat(place / "v_models.mat", {"v_models": np.tile(rows["states_f"][:count, 3:], (1, 6))})
    return folder


def old_sheet(instants):
    """An .xls file with one sheet "All": a column of numbers, as doubles, integers and 30-bit numbers in turn."""
    records = b""

    def add(kind, data):
        nonlocal records
        records += struct.pack("<HH", kind, len(data)) + data

    name = b"All"
    add(0x0809, struct.pack("<HH", 0x0600, 0x05) + bytes(12))
    add(0x0085, struct.pack("<IBBBB", 0, 0, 0, len(name), 0) + name)
    add(0x0809, struct.pack("<HH", 0x0600, 0x10) + bytes(12))
    for row, t in enumerate(instants):
        hundredths = round(100.0 * t)
        if row % 3 == 1 and abs(hundredths / 100.0 - t) < 1e-12:
            add(0x027E, struct.pack("<HHHI", row, 0, 0, hundredths << 2 | 3))
        elif row % 3 == 2 and abs(hundredths / 100.0 - t) < 1e-12:
            add(0x00BD, struct.pack("<HHHIH", row, 0, 0, hundredths << 2 | 3, 0))
        else:
            add(0x0203, struct.pack("<HHHd", row, 0, 0, t))
    sector, end = 512, 0xFFFFFFFE
    stream = records.ljust(-(-max(len(records), 1) // sector) * sector, b"\0")
    sectors = len(stream) // sector
    entry = "Workbook".encode("utf-16le").ljust(64, b"\0") + struct.pack("<HBB", 18, 2, 1) + bytes(48)
    entry += struct.pack("<II", 2, len(records)) + bytes(4)
    table = [0xFFFFFFFD, end, *range(3, 2 + sectors), end]
    table += [0xFFFFFFFF] * (sector // 4 - len(table))
    head = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(22) + struct.pack("<H", 9) + bytes(12)
    head += struct.pack("<II", 1, 1) + bytes(24) + struct.pack("<I", 0)
    return head.ljust(512, b"\0") + struct.pack("<128I", *table) + entry.ljust(sector, b"\0") + stream


def new_sheet(columns, title="Event time (s)"):
    """An .xlsx file with one sheet: columns of instants side by side, each under its title."""
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    rows = {0: {c: None for c in range(len(columns))}}
    for c, column in enumerate(columns):
        for r, t in enumerate(column):
            rows.setdefault(r + 1, {})[c] = t
    body = ""
    for r, cells in sorted(rows.items()):
        texts = (
            f'<c r="{chr(65 + c)}{r + 1}" t="s"><v>0</v></c>'
            if t is None
            else f'<c r="{chr(65 + c)}{r + 1}"><v>{t!r}</v></c>'
            for c, t in cells.items()
        )
        body += f'<row r="{r + 1}">{"".join(texts)}</row>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("xl/sharedStrings.xml", f"<sst {space}><si><t>{title}</t></si></sst>")
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet {space}><sheetData>{body}</sheetData></worksheet>")
    return out.getvalue()


def write_balls(folder, files):
    for name, text in files.items():
        path = Path(folder) / "Coefficient_of_restitution" / "Method2" / "Data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    return folder


PENDULUM = (0.094, 0.138, 0.1086, 0.1168, 0.1727, 4.4e-4, 1.27e-3, 1e-4, 1e-5, 9.81)


def write_pendulum(folder, pieces, parameters=PENDULUM):
    """Pieces (samples, 4): angles from upright and clockwise, then their rates."""
    place = Path(folder) / "ParameterEstimation" / "DoublePendulum"
    place.mkdir(parents=True, exist_ok=True)
    cells = np.empty((len(pieces), 1), dtype=object)
    for k, piece in enumerate(pieces):
        cells[k, 0] = np.asarray(piece, dtype=float).T
    data = {"Y_id": cells[:-2], "Y_vad": cells[-2:], "dt": 0.001}
    savemat(place / "DoublePendulumDataForParameterEstimation.mat", data)
    savemat(place / "EstimatedParameters_DoublePendulum.mat", {"EstimatedParameters": np.asarray(parameters)})
    return folder
