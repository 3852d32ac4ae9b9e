"""Direct linear transform: recovers a camera matrix from point correspondences."""
import numpy as np


def homogeneous(points):
    return np.c_[points, np.ones(len(points))]


def project(camera, points):
    image = homogeneous(points) @ camera.T
    return image[:, :2] / image[:, 2:]


def direct_linear_transform(world, image):
    rows = []
    for point, (u, v) in zip(homogeneous(world), image):
        zero = np.zeros(4)
        rows.append(np.concatenate([point, zero, -u * point]))
        rows.append(np.concatenate([zero, point, -v * point]))
    system = np.vstack(rows)
    _, _, vt = np.linalg.svd(system)
    return vt[-1].reshape(3, 4)


def camera_center(camera):
    rotation, translation = camera[:, :3], camera[:, 3]
    return -np.linalg.inv(rotation) @ translation


def main():
    rng = np.random.default_rng(8)
    world = rng.uniform(-1, 1, size=(12, 3))
    intrinsics = np.array([[500.0, 0, 160], [0, 500, 120], [0, 0, 1]])
    extrinsics = np.column_stack([np.eye(3), [0.1, -0.2, 4.0]])
    true_camera = intrinsics @ extrinsics

    estimated = direct_linear_transform(world, project(true_camera, world))
    error = np.abs(project(estimated, world) - project(true_camera, world)).max()
    print(f"reprojection error {error:.2e} px")
    print("camera centre", camera_center(estimated).round(3))


if __name__ == "__main__":
    main()
