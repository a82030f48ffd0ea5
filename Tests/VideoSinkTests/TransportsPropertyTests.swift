import GStreamerKit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLApp

/// The structure of the property `transports`, without a head unit.
@Suite struct TransportsPropertyTests {
  init() throws {
    try #require(GStreamer.isReady)
  }

  private func grant(_ service: ServiceType, _ role: TransportRole) -> MediaGrant {
    MediaGrant(service: service, epoch: 1, sessionID: 1, version: 5, maximumPayload: 1000, role: role)
  }

  private func status(
    _ video: TransportRole? = nil, _ audio: TransportRole? = nil, _ secondary: SecondaryTransportState = .registered
  ) -> AppStatus {
    var status = AppStatus()
    status.connection = .ready
    status.peer = "peer"
    status.session.video.grant = video.map { VideoGrant(media: grant(.video, $0), size: VideoSize(320, 240)) }
    status.session.audio.grant = audio.map {
      AudioGrant(media: grant(.audio, $0), format: PCMFormat(), isFormatAssumed: false)
    }
    status.session.secondary.state = secondary
    return status
  }

  /// The fields of a transport.
  private func fields(_ status: AppStatus, of transport: String) -> [String: String]? {
    guard let structure = status.transportsStructure(primary: .bluetooth),
      let value = gst_structure_get_value(structure.pointer, transport), let part = gst_value_get_structure(value)
    else { return nil }
    return PluginTestSupport.fields(of: part)
  }

  @Test(
    arguments: [
      (nil, nil, "rpc", ""), (.primary, nil, "rpc, video", ""), (nil, .primary, "rpc, audio", ""),
      (.primary, .primary, "rpc, video, audio", ""), (.secondary, .primary, "rpc, audio", "video"),
      (.primary, .secondary, "rpc, video", "audio"), (.secondary, .secondary, "rpc", "video, audio"),
    ] as [(TransportRole?, TransportRole?, String, String)])
  func services(_ video: TransportRole?, _ audio: TransportRole?, primary: String, secondary: String) {
    let status = status(video, audio)
    let (first, second) = (fields(status, of: "primary"), fields(status, of: "secondary"))
    #expect(first?["services"] == primary && first?["class"] == "bluetooth" && first?["address"] == "peer")
    #expect(second?["services"] == secondary && second?["class"] == "tcp-wifi" && second?["state"] == "registered")
  }

  @Test(arguments: SecondaryTransportState.allCases) func theSecondaryOneIsThereIfItCanBe(
    _ state: SecondaryTransportState
  ) {
    var status = status(nil, nil, state)
    status.session.secondary.reason = "cut"
    status.session.secondary.counters.updates = 1
    status.session.secondary.counters.attempts = 2
    status.session.secondary.counters.registrations = 3
    let found = fields(status, of: "secondary")
    guard state != .none else {
      #expect(found == nil)
      return
    }
    #expect(found?["state"] == state.rawValue && found?["reason"] == "cut")
    #expect(["updates", "attempts", "registrations"].map { found?[$0] } == ["1", "2", "3"])
  }

  @Test(arguments: ConnectionState.allCases) func onlyOfAnAppThatIsRegistered(_ connection: ConnectionState) {
    var status = status()
    status.connection = connection
    #expect((fields(status, of: "primary") != nil) == [.ready, .streaming].contains(connection))
  }

  /// An element that has no app any more notifies of them.
  @Test func propertiesThatDifferFromThoseWithoutAnApp() {
    func properties(_ status: AppStatus) -> [String] { status.properties.map { "\($0)" } }
    var status = AppStatus()
    #expect(properties(status) == ["connection-state"])
    status.session.hmi = HMIStatus(level: .limited, videoStreamingState: .streamable)
    #expect(properties(status) == ["connection-state", "hmi-level"])
    status.session.hmi?.level = HMILevel.none
    status.headUnit = HeadUnitInfo(RPCServiceAcknowledgement(), protocolVersion: ProtocolVersion(5))
    #expect(properties(status) == ["connection-state", "head-unit"])
  }
}
