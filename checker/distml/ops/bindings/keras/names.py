"""keras: the attributes under which layers keep what their rules need."""

INPUT_SHAPE, FEATURES = "__input_shape__", "__features__"
"""The shape that the first input is declared to have, without its batch; and the size that the first input settles."""
TRAINABLE, GIVEN = "trainable", "__weights__"
"""Whether training changes the weights, and the arrays that they are to begin with."""
