/// The state requested by the pipeline, and whether its stream continues.
package struct PipelineState: Equatable, Sendable {
  private enum Phase {
    case running
    /// An error message is being posted; buffers fail once it is.
    case failing
    case failed
    case stopping
  }

  private enum Playback {
    /// It has not been in PLAYING since the stream started.
    case prerolling
    /// The same, and it has its first buffer.
    case prerolled
    case playing
    case paused
  }

  private var phase = Phase.running
  private var playback = Playback.prerolling
  /// `unlock` was called and `unlock_stop` not yet.
  private(set) var isFlushing = false
  /// The end of the stream has come, and no new one has begun.
  private(set) var isEnded = false

  /// Neither failing nor stopping.
  var isUsable: Bool { phase == .running }
  /// Buffers of the stream are expected.
  var isRunning: Bool { phase == .running && !isEnded }
  /// An error has been reported to the application.
  var hasFailed: Bool { phase == .failed }
  var isStopping: Bool { phase == .stopping }
  /// The stream has failed or is over: it accepts nothing any more.
  var hasStopped: Bool { phase == .failed || phase == .stopping }
  /// It has something to send, or is about to.
  var wantsService: Bool { playback != .prerolling }
  /// The stream has not been in PLAYING yet.
  var isPrerolling: Bool { playback == .prerolling || playback == .prerolled }
  var isPlaying: Bool { playback == .playing }
  var isPaused: Bool { playback == .paused }

  mutating func play() {
    playback = .playing
  }

  /// - Returns: whether it was in PLAYING.
  mutating func pause() -> Bool {
    guard playback == .playing else { return false }
    playback = .paused
    return true
  }

  /// After the end of another stream, as with a seek, a paused pipeline has its first picture to show again.
  mutating func begin() {
    if isEnded, playback == .paused { playback = .prerolled }
    isEnded = false
  }

  mutating func end() {
    isEnded = true
  }

  mutating func setFlushing(_ isFlushing: Bool) {
    self.isFlushing = isFlushing
  }

  mutating func stop() {
    phase = .stopping
  }

  mutating func beginFailing() {
    if phase == .running { phase = .failing }
  }

  mutating func fail() {
    if phase == .failing { phase = .failed }
  }

  /// It has something to send.
  mutating func preroll() {
    if playback == .prerolling { playback = .prerolled }
  }
}
