import CLinux
import Glibc
import SDLApp
import SDLLink

/// What the kernel knows about the way to the peer.
extension Socket {
  /// Bytes that the kernel holds because the peer has not acknowledged them (TCP) or not read them (socket pair, where
  /// the kernel's own overhead counts as well); nil where the kernel does not say.
  var unacknowledgedByteCount: UInt64? {
    guard countsWaitingBytes else { return nil }
    var count: Int32 = 0
    // TIOCOUTQ is SIOCOUTQ under its older name.
    guard ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 else { return nil }
    return UInt64(max(count, 0))
  }

  /// Bytes of those that have not been sent once; nil where the kernel does not say.
  var unsentByteCount: UInt64? {
    let count = linux_unsent_bytes(descriptor)
    return count < 0 ? nil : UInt64(count)
  }

  /// Nil without TCP, and before the first measurement.
  var roundTrip: LinkSample.RoundTrip? {
    var smoothed: UInt32 = 0
    var minimum: UInt32 = 0
    guard linux_round_trip(descriptor, &smoothed, &minimum) == 0, smoothed > 0 else { return nil }
    return LinkSample.RoundTrip(smoothed: .microseconds(Int64(smoothed)), minimum: .microseconds(Int64(minimum)))
  }
}

extension Socket {
  /// Whether the other end is a process of this machine.
  var isPeerOnThisMachine: Bool {
    guard let peer = SocketAddress(connectedTo: descriptor) else { return false }
    if peer.family == AF_UNIX { return true }
    // The address of this machine in a network is that of both ends as well.
    guard peer.isIP, let own = SocketAddress(boundTo: descriptor) else { return false }
    return peer.host == own.host || peer.host.hasPrefix("127.")
  }
}
