"""scikit-learn: https://scikit-learn.org/stable/api/; how many rows, columns and classes go through its commonest parts."""
