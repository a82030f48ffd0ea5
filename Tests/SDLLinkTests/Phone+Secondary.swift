import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import SDLWire
import Testing

/// The beginning of a stream.
let testVideo: [UInt8] = [0, 0, 0, 1, 0x67, 1, 2, 3]

extension Phone {
  /// A registered app that may stream, and the address of the second transport that it was told.
  static func withOffer(
    admission: HeadUnitServer.Admission = HeadUnitServer.Admission(),
    _ change: (inout HeadUnitConfiguration) -> Void = { _ in }
  ) throws -> (Phone, TransportEventUpdate) {
    let phone = try Phone(admission: admission) { configuration in
      configuration.behaviour.secondaryTransport = .served
      configuration.activation = .zero
      change(&configuration)
    }
    #expect(phone.start()?.id == 1)
    let offer = try #require(phone.waitForOffer())
    #expect(phone.register("Map", "map", session: 1) == "SUCCESS")
    #expect(eventually { phone.headUnit.statuses(of: 1).last?.level == .full })
    return (phone, offer)
  }

  /// A second connection that the head unit has accepted.
  func registeredSecondary() throws -> PhoneConnection {
    let connection = try PhoneConnection(port: try #require(server.secondaryPort))
    connection.registerSecondary(session: 1)
    #expect(connection.waitForControl(.registerSecondaryTransportACK, .control, session: 1))
    return connection
  }
}

extension PhoneConnection {
  func registerSecondary(session: UInt8) {
    send(.registerSecondaryTransport, .control, session: session)
  }

  func waitForOffer() -> TransportEventUpdate? {
    waitFor { frame in
      frame.header.controlFrame == .transportEventUpdate ? TransportEventUpdate(payload: frame.payload) : nil
    }
  }

  func sendVideo(_ bytes: [UInt8]) {
    let message = Fragmentation(
      service: .video, version: 5, sessionID: 1, messageID: 5, payloadSize: bytes.count, maximumPayload: 100_000)
    send(message.frames(of: bytes))
  }

  func startVideo() {
    let parameters = VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264")
    send(.startService, .video, session: 1, payload: parameters.bytes(version: 5))
    #expect(waitForControl(.startServiceACK, .video, session: 1))
  }
}
