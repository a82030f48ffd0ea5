/// Counters of a connection, over all attempts.
public struct LinkStatistics: Equatable, Sendable {
  /// All bytes handed to the kernel.
  public var sentByteCount: UInt64 = 0
  public var receivedByteCount: UInt64 = 0
  public var video = MediaChannelStatistics()
  public var audio = MediaChannelStatistics()
}
