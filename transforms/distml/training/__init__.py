"""What a training program is made of: which object can reach which expression, across its modules."""
