import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// A secondary transport is offered (SDL-0141), but not served.
@Suite struct SecondaryTransportTests {
  private static let place = TransportEventUpdate(address: "127.0.0.1", port: 5678)

  private func acknowledgement(_ app: TestApp) throws -> RPCServiceAcknowledgement {
    RPCServiceAcknowledgement(payload: try #require(app.payload(.startServiceACK, .rpc)), version: 5)
  }

  @Test func none() throws {
    var app = TestApp()
    app.startSession()
    let acknowledgement = try acknowledgement(app)
    #expect(acknowledgement.secondaryTransports == [] && acknowledgement.videoServiceTransports == [1])
    app.run { $0.change(.secondaryTransport(Self.place), now: $1) }
    #expect(app.payload(.transportEventUpdate, .control) == nil)
  }

  @Test func offered() throws {
    var app = TestApp()
    app.run { $0.change(.secondaryTransport(Self.place), now: $1) }
    app.startSession()
    let acknowledgement = try acknowledgement(app)
    #expect(acknowledgement.secondaryTransports == ["TCP_WIFI"] && acknowledgement.videoServiceTransports == [1, 2])
    #expect(app.controls == ["rpc startServiceACK", "control transportEventUpdate"])
    #expect(
      app.payload(.transportEventUpdate, .control).map(TransportEventUpdate.init(payload:)) == Self.place)
    app.run { $0.change(.secondaryTransport(nil), now: $1) }
    #expect(
      app.payload(.transportEventUpdate, .control).map(TransportEventUpdate.init(payload:))
        == TransportEventUpdate(address: nil, port: nil))
  }

  @Test(arguments: [ProtocolVersion(5, 0, 0), nil]) func olderProtocols(version: ProtocolVersion?) {
    var app = TestApp()
    app.run { $0.change(.secondaryTransport(Self.place), now: $1) }
    app.startSession(version)
    #expect(app.controls == ["rpc startServiceACK"])
  }

  /// RegisterSecondaryTransport is refused.
  @Test func registrationIsRefused() {
    var other = TestApp()
    other.send(.registerSecondaryTransport, .control, sessionID: 7, messageID: 1)
    #expect(other.controls == ["control registerSecondaryTransportNAK"])
    #expect(other.headers.map(\.sessionID) == [7] && other.headers.map(\.messageID) == [2])
  }
}
