import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

/// One run of `sdlheadunitaudiosrc`: the sound of the apps. See ``HeadUnitRun``.
final class HeadUnitAudioSourceRun: HeadUnitRun {
  struct State: HeadUnitRunState {
    var part: HeadUnitPart
    var audio: ReceivedAudio
    var timeline: SoundTimeline
    let filling: SilenceFilling
    var gaps = SoundGaps()
    /// Silent samples that belong in front of the next sound.
    var owedSilence = 0
    /// Nothing has come in time, and silence has been pushed for it.
    var hasPaused = false
    /// The next buffer does not follow the one before it.
    var isDiscontinuous = true
  }

  /// Of silence while nobody speaks.
  static let pieceDuration = Duration.milliseconds(20)

  let element: ElementHandle<HeadUnitAudioSource>
  let reporter: HeadUnitReporter<HeadUnitAudioSource>
  let name: String
  let state: Monitor<State>
  let output = Monitor(HeadUnitAudioSourceOutput())

  /// - Parameters:
  ///   - element: what the run reports to until its end.
  ///   - settings: as they are at the start.
  ///   - history: what was counted in earlier runs.
  init(
    element: HeadUnitAudioSource, settings: HeadUnitAudioSourceSettings,
    history: HeadUnitHistory<ReceivedAudio.Counters>
  ) {
    self.element = ElementHandle(element)
    name = String(freeing: gst_object_get_name(element.gstElement.cast())) ?? ""
    reporter = HeadUnitReporter(self.element)
    state = Monitor(
      State(
        part: HeadUnitPart(history, endsWithApp: settings.endsWithApp), audio: ReceivedAudio(history.stream),
        timeline: SoundTimeline(
          PCMFormat(), tolerance: UInt64(clamping: settings.tolerance.nanoseconds),
          playoutDelay: UInt64(settings.playoutDelay) * 1_000_000),
        filling: settings.silence))
  }

  var service: ServiceType { HeadUnitAudioSource.service }

  /// What comes while the pipeline is not playing is not taken.
  func setPlaying(_ isPlaying: Bool) {
    state.withLock { $0.audio.isPlaying = isPlaying }
  }
}

extension HeadUnitAudioSourceRun.State {
  var counters: ReceivedAudio.Counters { audio.counters }
  var queuedCount: Int { audio.queuedCount }
  var streamingApp: UInt8? { audio.app }

  mutating func joined(_ setup: HeadUnitSetup, _ apps: ServedApps, now: Duration) {
    audio.format = setup.settings.soundFormat
    timeline = SoundTimeline(audio.format, tolerance: timeline.tolerance, playoutDelay: timeline.playoutDelay)
    for app in apps.all where app.audioTransport != nil { audio.begin(by: app.id) }
  }

  mutating func appsChanged(formerApp: UInt8?, now: Duration) {
    if let formerApp { audio.end(by: formerApp) }
  }

  mutating func willEnd(now: Duration) {}
  mutating func streamEnded(now: Duration) {}

  mutating func discard() {
    audio.discard()
  }
}
