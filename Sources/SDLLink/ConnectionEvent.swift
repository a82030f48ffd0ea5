import SDLApp
import SDLHeadUnit

/// What an ``AppConnection`` reports: in this order for each attempt to connect, `lost` between two of them, and `ended`
/// as the very last.
public enum ConnectionEvent: Sendable {
  /// An attempt to connect begins.
  case attempting
  /// The name service is asked.
  case resolving(host: String)
  /// May come several times, for the addresses of a host.
  case connecting(address: String)
  case connected(peer: String)
  case session(AppSession.Event)
  /// The video service has come so far; after the session's event about the same.
  case videoState(VideoStreamState)
  /// A heartbeat was answered after so long.
  case roundTrip(Duration)
  /// The time of ``AppConnection/setTimer(at:)`` has come.
  case timerFired
  /// The head unit has not read for this long; video waits. It may go on, or end the connection later.
  case stalled(for: Duration)
  /// From the built-in head unit only, and on its thread: what it noticed, without the video data.
  case headUnit(HeadUnitSession.Event)
  /// The connection is gone, and is made again after a pause.
  case lost(ConnectionFailure, retryAfter: Duration)
  /// Exactly once. Nil after ``AppConnection/stop(grace:)``.
  case ended(ConnectionFailure?)
}

/// Gets the events of an ``AppConnection``.
public protocol AppConnectionObserver: AnyObject, Sendable {
  /// Called on the connection thread with no lock held; any method of the connection may be called back, but one that
  /// waits does not wait there.
  func connection(_ connection: AppConnection, didReport event: ConnectionEvent)
}

/// Counters of a connection, over all attempts. Video: submitted = sent + discarded + queued.
public struct LinkStatistics: Equatable, Sendable {
  /// All bytes handed to the kernel.
  public var sentByteCount: UInt64 = 0
  public var receivedByteCount: UInt64 = 0
  public var sentVideoMessages: UInt64 = 0
  /// Payload bytes of those messages, without SDL headers.
  public var sentVideoByteCount: UInt64 = 0
  /// Queued, but not sent: the grant went away or the connection ended.
  public var discardedVideoMessages: UInt64 = 0
  /// From the queue's door to the kernel, of the last message: it grows when the network is too slow for the bitrate.
  public var lastVideoDwellTime: Duration = .zero
  public var longestVideoDwellTime: Duration = .zero
  public var queuedFrames = 0
  public var queuedByteCount = 0
}
