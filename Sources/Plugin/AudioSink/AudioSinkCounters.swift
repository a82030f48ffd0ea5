import SDLApp

/// Counters of samples. Every sample that came in is in exactly one counter, so that
/// `samplesIn == samplesSent + all of dropped + samplesQueued` holds at any moment.
struct AudioSinkCounters {
  private(set) var samplesIn: UInt64 = 0
  private(set) var samplesSent: UInt64 = 0
  /// In the element: at hand, waiting in the queue, or being written.
  private(set) var samplesQueued: UInt64 = 0
  private var dropped = [UInt64](repeating: 0, count: SampleDropReason.allCases.count)
  /// Silent samples that were sent where upstream had none.
  private(set) var silenceSent: UInt64 = 0
  /// Without SDL headers.
  private(set) var audioBytesSent: UInt64 = 0
  var app = AppCounters()
  var stream = StreamCounters()

  func dropped(_ reason: SampleDropReason) -> UInt64 { dropped[reason.rawValue] }

  mutating func samplesArrived(_ count: Int) {
    samplesIn &+= UInt64(clamping: count)
    samplesQueued &+= UInt64(clamping: count)
  }

  mutating func samplesDropped(_ count: Int, _ reason: SampleDropReason) {
    leaveQueue(count)
    dropped[reason.rawValue] &+= UInt64(clamping: count)
  }

  /// A payload was written completely.
  mutating func sent(samples: Int, silence: Int, byteCount: Int) {
    leaveQueue(samples)
    samplesSent &+= UInt64(clamping: samples)
    silenceSent &+= UInt64(clamping: silence)
    audioBytesSent &+= UInt64(clamping: byteCount)
  }

  /// Does not trap: a wrong counter must not end the application.
  private mutating func leaveQueue(_ count: Int) {
    samplesQueued -= min(UInt64(clamping: count), samplesQueued)
  }
}

extension SampleDropReason {
  /// Field of `sdl-stats`.
  var field: String {
    switch self {
    case .notStreaming: "samples-dropped-not-streaming"
    case .suspended: "samples-dropped-suspended"
    case .queueFull: "samples-dropped-queue-full"
    case .late: "samples-dropped-late"
    case .overlap: "samples-dropped-overlap"
    case .silent: "samples-dropped-silent"
    case .wrongFormat: "samples-dropped-wrong-format"
    case .discarded: "samples-dropped-discarded"
    }
  }
}
