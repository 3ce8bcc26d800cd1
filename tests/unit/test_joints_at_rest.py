"""Joints with dry friction and rough feet that stop or strike at one instant: one decision, in all units and places.

The worlds are some that random ones found, to the last digit where that mattered.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.element._giving_way import Candidates, given_way
from carom.hybrid._coupled import Coupled

from .jointed_trees import Bone, Copy, Tree, run

STOPS = Tree(
    bones=(
        Bone(
            -1,
            False,
            0.3569594272871959,
            0.45141698798446317,
            0.31018824527322836,
            0.31018824527322836,
            17.002356755714324,
            0.02408111968038365,
        ),
        Bone(0, True, 0.2486838237679368, 0.6772291952197081, None, None, 1462.248366036566, -0.0326174779710946),
        Bone(0, False, 0.20727596109328372, 0.6485586137871873, None, None, 17.002356755714324, 0.0055607041522256345),
        Bone(
            1,
            False,
            0.5823860301586201,
            3.191359137893338,
            1.2546731759253151,
            1.6310751287029097,
            17.002356755714324,
            -0.03555041547029798,
        ),
    ),
    feet=((1, 0), (2, 1)),
    law=carom.Poisson(0.49130464265717805),
    mu=0.393589262839915,
    static=0.393589262839915,
    angles=(2.4600195509653107, 2.7412286921216387, 1.8595849740593415),
    rates=(-0.0, -0.0, -0.0),
    slides=(0.027454280214514445,),
    slide_rates=(0.0,),
    floor=0.22244800724768893,
)

SETTLES = Tree(
    bones=(
        Bone(
            -1,
            False,
            0.4396386944279863,
            0.5412037103961357,
            1.7966925332248072,
            2.3357002931922493,
            65.32605723278236,
            0.03247050791651315,
        ),
        Bone(0, True, 0.5937992337287274, 1.5896991792375923, None, None, 0.0, -0.040321324087789684),
        Bone(0, False, 0.38365172015999727, 0.2549878812851934, None, None, 0.0, -0.004321869980581414),
        Bone(
            1,
            False,
            0.35652573700782264,
            2.6201770479580375,
            6.505064770806477,
            6.505064770806477,
            65.32605723278236,
            0.023352976507513334,
        ),
    ),
    feet=((1, 0), (2, 1)),
    law=carom.Poisson(0.4297575772626779),
    mu=0.7875565269741779,
    static=0.7875565269741779,
    angles=(-2.5926316748167526, -2.544256399261646, 0.8577950599882596),
    rates=(1.1827774609715203, 0.9078733827622707, 0.28260738422397447),
    slides=(-0.011155417607839578,),
    slide_rates=(-0.14651580440892786,),
    floor=-0.5021416880751152,
)

WEDGED = Tree(
    bones=(
        Bone(
            -1,
            False,
            0.44012452444387096,
            2.3170885013547755,
            11.19000945894237,
            11.19000945894237,
            0.0,
            -0.19752571488310283,
        ),
        Bone(
            0,
            False,
            0.32124872667870225,
            1.5834752591136616,
            0.21617631057476988,
            0.21617631057476988,
            14.56679499099944,
            -2.328333912915676,
        ),
    ),
    feet=((1, 0),),
    law=carom.Poisson(0.4679485664001596),
    mu=1.1329955903220716,
    static=1.1329955903220716,
    angles=(-0.18743315986942122, -2.5628354156567803),
    rates=(-0.0, 0.0),
    floor=0.02448984216835426,
)

FAR = Tree(
    bones=(
        Bone(-1, False, 0.4276452714479738, 4.739419080942099, None, None, 12.319372778620494, -0.45676734870829355),
        Bone(
            0,
            False,
            0.5075559186823584,
            1.2134863772108635,
            24.806130739530293,
            24.806130739530293,
            12.319372778620494,
            2.363681968076515,
        ),
        Bone(
            1,
            False,
            0.5862907170565641,
            2.300818554978072,
            1.22030290841751,
            1.22030290841751,
            41.06457592873498,
            -0.9931436290277987,
        ),
    ),
    feet=((0, 0),),
    law=carom.Newton(0.08074216642907306),
    mu=0.7037762533579168,
    static=0.7037762533579168,
    angles=(-0.4327437850430562, 1.9733497027675702, 1.002836230130038),
    rates=(0.0, 0.0, -0.0),
    base=(0.0, 0.023843248407279333),
    base_velocity=(0.0, 0.0),
)

NUDGED = Tree(
    bones=(
        Bone(-1, False, 0.23518745737728852, 2.856910046486564, None, None, 3.399202193539533, 0.8848917470484423),
        Bone(
            0,
            False,
            0.4757508093454877,
            0.39235277148547143,
            5.1405866189041225,
            5.1405866189041225,
            11.33067397846511,
            -1.5082920749449966,
        ),
    ),
    feet=((0, 0), (1, 1)),
    law=carom.Plastic(),
    mu=0.34793832718032525,
    static=0.4175259926163903,
    angles=(0.9095193871108822, -0.6039614496075452),
    rates=(1e-09, 1e-09),
    base=(0.0, 0.08457049973908713),
    base_velocity=(0.0, 0.0),
)

ASIDE = Tree(
    bones=(
        Bone(-1, False, 0.36936206894390244, 1.577913890518833, None, None, 6.218945978548086, 0.23726876986779807),
        Bone(
            0,
            False,
            0.24496123333893693,
            0.48594872058125543,
            0.14213004612866884,
            0.14213004612866884,
            6.218945978548086,
            -2.4361862291165157,
        ),
    ),
    feet=((0, 0), (1, 1)),
    law=carom.Poisson(0.12441338057460954),
    mu=0.9933058431854145,
    static=0.9933058431854145,
    angles=(0.28474725443122095, -2.1441782688694),
    rates=(-1.7544472631776982, -0.39175235824326116),
    base=(0.0, 0.19651043442042698),
    base_velocity=(-0.2042537573443144, 0.7801897411360048),
)


LET_GO = Tree(
    bones=(
        Bone(-1, False, 0.5763028508116925, 0.4263633502884421, 0.5012126627029746, 0.5012126627029746, 0.0, 0.0),
        Bone(0, False, 0.2168407049796226, 4.274262929171411, 0.6903234626986394, 0.6903234626986394, 0.0, 0.0),
    ),
    feet=((0, 0),),
    law=carom.Poisson(0.31907087394501227),
    mu=0.9056708407240629,
    static=1.0868050088688754,
    angles=(-2.3656745780999047, -2.900891838641912),
    rates=(0.0, 0.0),
    floor=0.20335835604127178,
)


def told(result: Any) -> list[tuple[str, str]]:
    return [(event.exit, event.phase_after) for event in result.events]


@pytest.mark.parametrize("tree", [STOPS, SETTLES], ids=["stop", "blow"])
def test_a_joint_that_stops_with_a_foot_is_decided_with_it(tree: Tree) -> None:
    """The foot was decided with the effort of a joint that moved; the joint stuck, and slipped, without end."""
    result = run(tree)
    assert result.outcome == "finished"
    assert result.energy.max_error_percent < 1e-6


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_joint_that_gives_way_against_its_pull_is_found(side: float) -> None:
    """Behind a foot that slides an effort may accelerate a joint the other way: neither stuck nor pulled along."""
    system = Coupled(
        [[jnp.asarray(-2.0)]],
        jnp.asarray([side * 5.0]),
        jnp.asarray([5.0]),
        jnp.asarray([True]),
        jnp.asarray([False]),
        range(1),
    )
    most, yes = jnp.asarray([1.0]), jnp.asarray([True])
    found = given_way(Candidates(system, most, most, yes, yes, jnp.asarray([0.0]), jnp.asarray([1e-14])))
    np.testing.assert_array_equal(found, [side])


def test_what_joints_and_a_foot_could_both_hold_is_held_in_all_units() -> None:
    """In metres it slipped, in millimetres it stuck: the load was shared in N m and N."""
    metres, millimetres = run(WEDGED), run(WEDGED, Copy(unit=1e3))
    assert told(metres) == told(millimetres)
    np.testing.assert_allclose(metres.q[-1], millimetres.q[-1], atol=1e-9)


def test_a_kilometre_away_a_joint_slips_once() -> None:
    """Levers have fewer digits there: what gave way by its exit stuck by its decision, without end."""
    near, far = run(FAR), run(FAR, Copy(far=1e3))
    assert far.outcome == "finished"
    assert told(near) == told(far)
    np.testing.assert_allclose([e.t for e in near.events], [e.t for e in far.events], atol=1e-7)


def test_rates_that_count_as_none_go_with_the_blow() -> None:
    """They went with the first step, turned the feet's sliding round, and no step was short enough at t = 0."""
    result = run(NUDGED)
    assert result.outcome == "finished"
    assert next(event.exit for event in result.events) == "strike f00"


def test_a_foot_that_slips_has_a_mirror_image() -> None:
    """Where the search tried all decisions it began with sliding left: to the right it stuck 0.02 s longer."""
    plain, mirrored = run(ASIDE), run(ASIDE, Copy(side=-1.0))
    assert len(plain.events) == len(mirrored.events)
    np.testing.assert_allclose(np.pi - plain.q[-1, 2:], mirrored.q[-1, 2:], atol=1e-6)


def test_a_foot_that_only_one_joint_moves_lifts_when_its_load_ends() -> None:
    """Both its forces vanish at once: it was called sliding, where sliding would have fed its own force: no motion."""
    result = run(LET_GO)
    assert result.outcome == "finished"
    exits = [event.exit for event in result.events]
    assert exits.index("strike f00") < exits.index("lift f00")
    assert result.energy.max_error_percent < 1e-6
