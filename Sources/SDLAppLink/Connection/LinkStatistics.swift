/// Counters of a connection, over all attempts. Video and audio: submitted = sent + discarded + queued.
public struct LinkStatistics: Equatable, Sendable {
  /// All bytes handed to the kernel.
  public var sentByteCount: UInt64 = 0
  public var receivedByteCount: UInt64 = 0
  public var sentVideoMessages: UInt64 = 0
  /// Payload bytes of those messages, without SDL headers.
  public var sentVideoByteCount: UInt64 = 0
  /// Queued, but not sent: the grant went away or the connection ended.
  public var discardedVideoMessages: UInt64 = 0
  /// From the queue's entrance to the kernel, of the last message: it grows when the network is too slow for the
  /// bitrate.
  public var lastVideoDwellTime: Duration = .zero
  public var longestVideoDwellTime: Duration = .zero
  public var queuedFrames = 0
  public var queuedByteCount = 0
  /// The sound.
  public var audio = MediaChannelStatistics()
}

extension LinkStatistics {
  init(sentByteCount: UInt64, receivedByteCount: UInt64, video: MediaChannelStatistics, audio: MediaChannelStatistics) {
    self.init(
      sentByteCount: sentByteCount, receivedByteCount: receivedByteCount, sentVideoMessages: video.sentMessages,
      sentVideoByteCount: video.sentByteCount, discardedVideoMessages: video.discardedMessages,
      lastVideoDwellTime: video.lastDwellTime, longestVideoDwellTime: video.longestDwellTime,
      queuedFrames: video.queuedFrames, queuedByteCount: video.queuedByteCount, audio: audio)
  }
}
