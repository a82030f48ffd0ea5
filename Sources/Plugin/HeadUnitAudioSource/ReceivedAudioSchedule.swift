import GStreamerKit
import SDLMessages

/// Decides when an app's sound is pushed, and what replaces it if there is none.
struct ReceivedAudioSchedule: Sendable {
  /// The next step of the streaming thread.
  enum Step: Sendable {
    case sound([UInt8], ReceivedAudioTimeline.Place, isDiscontinuous: Bool)
    case silence(ReceivedAudioTimeline.Place, isDiscontinuous: Bool)
    /// A GAP event, in running times.
    case gap(start: UInt64, end: UInt64)
    case end
    case flushing
    /// Nothing is due before the pipeline plays.
    case pause
    /// Nothing is due before this time has passed.
    case wait(nanoseconds: UInt64)
  }

  /// The length of a buffer of silence while no app sends sound.
  static let pieceDuration = Duration.milliseconds(20)

  var audio: ReceivedAudio
  private var timeline: ReceivedAudioTimeline
  private let filling: SilenceFilling
  private var gaps = ReceivedAudioGaps()
  /// Silent samples that belong in front of the next sound.
  private var owedSilence = 0
  /// No sound has come in time, and silence has been pushed instead.
  private var hasPaused = false
  /// The next buffer does not follow the one before it.
  private var isDiscontinuous = true
  /// The pipeline's at the last step.
  private var lastRunningTime: UInt64 = 0

  init(_ audio: ReceivedAudio, _ timeline: ReceivedAudioTimeline, filling: SilenceFilling) {
    self.audio = audio
    self.timeline = timeline
    self.filling = filling
  }

  /// Before any sound.
  mutating func setFormat(_ format: PCMFormat) {
    audio.format = format
    timeline = ReceivedAudioTimeline(format, tolerance: timeline.tolerance, playoutDelay: timeline.playoutDelay)
  }

  mutating func takeGapReport() -> ReceivedAudioGaps.Report? { gaps.takeReport() }

  /// The next step.
  ///
  /// - Parameters:
  ///   - now: the present time by the clock that measured the arrivals.
  ///   - runningTime: the pipeline's present running time, in nanoseconds.
  ///   - isAtEnd: whether the stream ends when there is no sound left.
  mutating func step(now: Duration, runningTime: UInt64, isAtEnd: Bool = false) -> Step {
    // GStreamer renews the base time only when it plays on: until then running time goes on in PAUSED.
    guard audio.isPlaying else { return .pause }
    if runningTime < lastRunningTime {
      // A flushing seek in another branch of the pipeline starts running time again.
      timeline.restart(at: runningTime)
      owedSilence = 0
      isDiscontinuous = true
    }
    lastRunningTime = runningTime
    timeline.begin(at: runningTime)
    if owedSilence > 0 { return silence(atMost: owedSilence) }
    guard let first = audio.first else { return isAtEnd ? .end : stepWithoutSound(runningTime) }
    let age = UInt64(clamping: (now - first.arrival).nanoseconds)
    // Sound may have come after `now`, while the streaming thread stood still.
    let lead = UInt64(clamping: (first.arrival - now).nanoseconds)
    let arrival = (runningTime - min(age, runningTime)).addingClamped(lead)
    // Sound after a pause is placed at its arrival, like the start of an utterance.
    let isStart = hasPaused.take() || first.isStart
    if let beginning = timeline.beginning(of: arrival, isStart: isStart), timeline.missing(before: beginning) > 0 {
      switch filling {
      case .samples:
        owedSilence = timeline.missing(before: beginning)
        return silence(atMost: owedSilence)
      case .gapEvents: return gap(to: beginning)
      }
    }
    guard let message = audio.take() else { return .wait(nanoseconds: 0) }
    let place = timeline.place(audio.format.sampleCount(ofByteCount: message.bytes.count))
    if gaps.note(place, isStart: message.isStart) { audio.counters.gaps &+= 1 }
    return .sound(message.bytes, place, isDiscontinuous: isDiscontinuous.take() || message.isDiscontinuous)
  }

  /// No app has sent sound: silence continues, once sound for the due time would be too late.
  private mutating func stepWithoutSound(_ runningTime: UInt64) -> Step {
    let piece = audio.format.sampleCount(in: Self.pieceDuration)
    let pieceDuration = UInt64(clamping: Self.pieceDuration.nanoseconds)
    let start = timeline.end
    let due = start.addingClamped(timeline.tolerance).addingClamped(pieceDuration)
    guard runningTime >= due else { return .wait(nanoseconds: due - runningTime) }
    hasPaused = true
    switch filling {
    case .samples:
      let due = runningTime - min(timeline.tolerance.addingClamped(start), runningTime)
      return silence(atMost: max(piece, audio.format.sampleCount(in: .nanoseconds(Int64(clamping: due)))))
    case .gapEvents: return gap(to: runningTime - timeline.tolerance)
    }
  }

  private mutating func gap(to end: UInt64) -> Step {
    let start = timeline.end
    timeline.skip(to: end)
    isDiscontinuous = true
    return .gap(start: start, end: end)
  }

  private mutating func silence(atMost count: Int) -> Step {
    // At most a second at a time.
    let count = min(count, audio.format.samplingRate.hertz)
    owedSilence = max(owedSilence - count, 0)
    audio.counters.silence &+= UInt64(clamping: count)
    return .silence(timeline.place(count), isDiscontinuous: isDiscontinuous.take())
  }
}

extension Bool {
  /// The value, which is false from now on.
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}

/// The output while no app sends sound: values of the property `silence`.
enum SilenceFilling: CaseIterable, Sendable {
  case samples
  case gapEvents
}

extension SilenceFilling: ObjectEnumeration {
  static let objectType = EnumerationType<SilenceFilling>("GstSdlHeadUnitAudioSrcSilence")

  var row: EnumerationRow {
    switch self {
    case .samples: .init(0, "samples", "Silent samples that fill the time")
    case .gapEvents: .init(1, "gap-events", "GAP events, and no samples")
    }
  }
}
