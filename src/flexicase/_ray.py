"""Being connected to Ray, for as long as it is needed."""

from __future__ import annotations

import logging
import socket
import warnings

from flexicase._checks import require_package

SECONDS_TO_ANSWER = 5.0


class RaySession:
    """A connection to Ray: the one that there is, or a new one.

    Whoever has connected to Ray before keeps that connection. Otherwise this joins the cluster that ``address`` or
    the environment variable RAY_ADDRESS names, or starts Ray on this machine; `close` then undoes that.

    Args:
        who: Who needs Ray, with the verb, for the message if it is not installed.
        address: Address of a cluster, as ``ray start`` prints it; None: whatever there is.

    Raises:
        ImportError: Ray is not installed.
        ConnectionError: There is no cluster at that address.
    """

    def __init__(self, who: str, address: str | None = None) -> None:
        """Connect, unless there is a connection."""
        require_package(who, "ray", extra="cluster")
        import ray

        self._made_here = not ray.is_initialized()
        if not self._made_here:
            return
        if address is not None:
            _check_port_open(address)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ray.init(address, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as cause:
            if address is None:
                raise
            raise ConnectionError(_no_cluster_message(address, cause)) from cause

    def workers(self) -> int:
        """How many processors the cluster has."""
        import ray

        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def close(self) -> None:
        """Disconnect, if this made the connection; Ray ends if it was started here."""
        if self._made_here:
            import ray

            self._made_here = False
            ray.shutdown()

    def __enter__(self) -> RaySession:
        """Itself."""
        return self

    def __exit__(self, *reason: object) -> None:
        """Close, whatever happened."""
        self.close()


def _check_port_open(address: str) -> None:
    """Raise at once where Ray would try for a minute or two."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        return
    try:
        socket.create_connection((host.rpartition("/")[2], int(port)), SECONDS_TO_ANSWER).close()
    except OSError as cause:
        raise ConnectionError(_no_cluster_message(address, cause)) from cause


def _no_cluster_message(address: str, cause: Exception) -> str:
    return (
        f"no Ray cluster answers at {address}: expected the address that 'ray start' has printed, "
        f"and this machine to be a part of the cluster ({cause})"
    )
