"""A connection to Ray."""

from __future__ import annotations

import logging
import socket
import warnings

from flexicase._checks import require_package

TIMEOUT_SECONDS = 5.0


class RaySession:
    """A connection to Ray: the existing one, or a new one that `close` ends.

    A new connection joins the cluster that ``address`` or the environment variable RAY_ADDRESS names, or starts Ray on
    this machine.

    Args:
        purpose: Subject and verb of the message if Ray is not installed: ``"runs on Ray need"``.
        address: Address of a cluster, as ``ray start`` prints it.

    Raises:
        ImportError: Ray is not installed.
        ConnectionError: There is no cluster at that address.
    """

    def __init__(self, purpose: str, address: str | None = None) -> None:
        require_package(purpose, "ray", extra="cluster")
        import ray

        self._made_here = not ray.is_initialized()
        if not self._made_here:
            return
        try:
            if address is not None:
                _check_port_open(address)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ray.init(address, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError) as cause:
            if address is None:
                raise
            raise ConnectionError(
                f"no Ray cluster answers at {address}: use the address that 'ray start' printed, "
                f"on a machine of the cluster ({cause})"
            ) from cause

    def workers(self) -> int:
        """Number of processors of the cluster."""
        import ray

        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def close(self) -> None:
        """End the connection if it was made here; Ray ends if it was started here."""
        if self._made_here:
            import ray

            self._made_here = False
            ray.shutdown()


def _check_port_open(address: str) -> None:
    """Raise OSError at once if the port is closed; Ray would try for a minute or two."""
    host, _, port = address.rpartition(":")
    if port.isdigit():
        socket.create_connection((host.rpartition("/")[2], int(port)), TIMEOUT_SECONDS).close()
