import GStreamerKit
import SDLApp
import SDLLink
import Synchronization

/// A stream of sound, from READY→PAUSED to PAUSED→READY. It passes what happens to the negotiation, and carries out
/// what that decides.
///
/// The streaming thread brings caps, samples and events; the connection thread what the head unit says. After ``end()`` nothing
/// of it reaches the element any more.
final class AudioStreamRun: StreamRun {
  let sink: AudioSink
  let app: AppClient
  let time: TimeSource

  let state: Monitor<AudioNegotiation>
  let notifications = NotificationQueue<AudioNotification>()
  let progress = StreamProgress()
  /// What is kept between buffers.
  let samples: ExclusiveAccess<SamplePath>
  /// That the format is assumed has been said.
  let hasSaidAssumption = AtomicFlag()

  init(sink: AudioSink, app: AppClient, settings: AudioSinkSettings) {
    self.sink = sink
    self.app = app
    time = sink.time
    state = Monitor(
      AudioNegotiation(settings: settings.negotiation(isMedia: app.settings.isMedia), activity: settings.activity))
    samples = ExclusiveAccess(SamplePath(sink: sink))
  }

  var channel: MediaChannel { connection.audio }

  func begin() {
    app.attach(self, of: sink) { status in
      update { negotiation in
        negotiation.hmiStatusChanged(status.hmi)
        if let grant = status.audioGrant { negotiation.serviceStarted(grant) }
        if status.audioState == .suspended { negotiation.serviceSuspended() }
        negotiation.sessionStateChanged(status.audioState)
      }
    }
    if let headUnit = app.status.headUnit { sayAssumption(headUnit) }
    deliverNotifications()
  }

  func withoutAccess<Result>(_ body: () -> Result) -> Result { samples.whileGivenBack(body) }

  func discardRest() {
    samples.withValue { $0.end() }
    sink.countStream { $0.resumed(at: time.now) }
  }

  func prepareForPreroll() -> Bool { samples.withValue { $0.isUpstreamLive } }

  var driverWaitTexts: (waiting: String, over: String) {
    ("Waiting for the driver to let the app be heard", "The driver lets the app be heard")
  }

  func apply(_ outputs: [AudioNegotiation.Output]) {
    for output in outputs {
      switch output {
      case .request(let request): connection.setAudioRequest(request)
      case .setTimer(let time): connection.setTimer(at: time)
      case .notify(let notification): notifications.add(notification)
      }
    }
  }
}

extension ElementError {
  init(_ problem: AudioProblem) {
    switch problem {
    case .startRefused, .refused: self = .resource(GST_RESOURCE_ERROR_NOT_AUTHORIZED, problem.description)
    case .wrongFormat: self = .stream(GST_STREAM_ERROR_FORMAT, problem.description)
    }
  }
}
