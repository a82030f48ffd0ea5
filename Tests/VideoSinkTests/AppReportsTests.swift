import GStreamerKit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLApp
@testable import SDLAppLink

/// What follows from the reports of an app's connection.
@Suite struct AppReportsTests {
  /// An app that was not started, with an element that posts for it.
  private final class Bench {
    let element: Element
    private let sink: VideoSink
    private let app: AppClient
    private let state: Monitor<AppClientState>
    private let reports: AppReports
    private let bus: UnsafeMutablePointer<GstBus>

    init() throws {
      element = try Element("sdlvideosink")
      sink = VideoSink(element.pointer.cast())
      app = try AppClient(AppSettings(), AppMember(sink), ProtocolLog(sink.gstElement))
      state = Monitor(AppClientState(AppMember(sink)))
      reports = AppReports(AppSettings(), state, time: .monotonic)
      bus = try nonNull(gst_bus_new())
      gst_element_set_bus(sink.gstElement, bus)
    }

    deinit {
      app.end(isQuiet: true)
      gst_element_set_bus(sink.gstElement, nil)
      gst_object_unref(bus)
    }

    var status: AppStatus { state.withLock { $0.status } }

    func report(_ event: ConnectionEvent) { reports.receive(event, of: app) }

    /// The connection is there, with an app in FULL whose permissions are known.
    func connect() {
      report(.connected(peer: "192.0.2.7"))
      var status = AppSession.Status()
      let full = HMIStatus(level: .full, videoStreamingState: .streamable)
      status.hmi = full
      status.permissions = AppPermissions(OnPermissionsChange(json: [:]))
      report(.sessionChanged(status, by: [.hmiStatus(full)]))
    }

    /// The screens for the app's own display that the application has been told of, since the last call.
    func takeLockScreens() -> [String?] {
      var screens: [String?] = []
      while let message = gst_bus_pop(bus) {
        let value = BusMessage(message)
        gst_message_unref(message)
        if value.isElement("sdl-lock-screen") { screens.append(value.fields["status"]) }
      }
      return screens
    }
  }

  /// The services that run.
  private func status(video: Bool, audio: Bool) -> AppSession.Status {
    func media(_ service: ServiceType) -> MediaGrant {
      MediaGrant(service: service, epoch: 1, sessionID: 1, version: 5, maximumPayload: 1000)
    }
    var status = AppSession.Status()
    if video { status.video.grant = VideoGrant(media: media(.video), size: VideoSize(320, 240)) }
    if audio { status.audio.grant = AudioGrant(media: media(.audio), format: PCMFormat(), isFormatAssumed: false) }
    return status
  }

  /// Picture and sound are streams of one app. What is reported with the end of the connection leaves its state to the
  /// report of that end, which follows.
  @Test(
    arguments: [
      (.videoStopped(.app), .audio, .streaming), (.audioStopped(.hmiStatus), .video, .streaming),
      (.videoStopped(.connectionLost), .audio, .streaming),
      (.videoStopped(.app), nil, .ready), (.audioStopped(.headUnit), nil, .ready),
      (.videoStopped(.connectionLost), nil, .streaming), (.audioStopped(.connectionLost), nil, .streaming),
      (.videoStopped(.sessionEnded), nil, .streaming), (.audioStopped(.sessionEnded), nil, .streaming),
    ] as [(AppSession.Event, StreamService?, ConnectionState)])
  func stateAfterTheEndOfAStream(end: AppSession.Event, rest: StreamService?, state: ConnectionState) throws {
    let bench = try Bench()
    let both = status(video: true, audio: true)
    if let video = both.video.grant { bench.report(.sessionChanged(both, by: [.videoStarted(video)])) }
    #expect(bench.status.connection == .streaming)
    bench.report(.sessionChanged(status(video: rest == .video, audio: rest == .audio), by: [end]))
    #expect(bench.status.connection == state)
  }

  /// Sound alone is a stream, too.
  @Test func soundStreams() throws {
    let bench = try Bench()
    let sound = status(video: false, audio: true)
    if let grant = sound.audio.grant { bench.report(.sessionChanged(sound, by: [.audioStarted(grant)])) }
    #expect(bench.status.connection == .streaming)
  }

  /// Nothing that an application shows of a car stays when the car is gone.
  @Test(
    arguments: [
      (.lost(.session(.connectionLost), retryAfter: .seconds(1)), .reconnecting), (.ended(nil), .idle),
    ] as [(ConnectionEvent, ConnectionState)])
  func theEndOfAConnectionTakesEverythingBack(end: ConnectionEvent, state: ConnectionState) throws {
    let bench = try Bench()
    bench.connect()
    #expect(bench.takeLockScreens() == ["required"] && bench.status.level == .full)
    let counters = ["hmi-level", "permissions", "connection-state"].map {
      NotificationCounter(bench.element.pointer, $0)
    }
    bench.report(end)
    #expect(bench.takeLockScreens() == ["off"])
    #expect(counters.map(\.count) == [1, 1, 1])
    #expect(bench.status.level == .none && bench.status.session.permissions == nil && bench.status.peer == nil)
    #expect(bench.status.connection == state)
    // What was not there is not taken back.
    bench.report(end)
    #expect(bench.takeLockScreens() == [] && counters.map(\.count) == [1, 1, 1])
    bench.connect()
    #expect(bench.takeLockScreens() == ["required"])
  }
}
