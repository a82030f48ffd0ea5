import SDLHeadUnit
import SDLMessages
import SDLWire
import Synchronization

/// An end of TLS whose handshake is one message each way, or as the server the app's and the last one, and whose records
/// have a header and nothing else.
final class TestChannel: SecureChannel {
  /// What the app sends in its handshake.
  static let answer: [UInt8] = [22, 3, 3, 0, 1, 2]

  private struct State {
    var isEstablished = false
    var serialNumber: String?
    var canEncrypt: Bool
  }

  private let state: Mutex<State>
  private let lastMessage: [UInt8]

  /// - Parameter lastMessage: the end of the handshake; empty for a client, where it is the server's.
  init(
    serialNumber: String? = RegisterAppInterface.test.appID.uppercased(), canEncrypt: Bool = true,
    lastMessage: [UInt8] = []
  ) {
    self.lastMessage = lastMessage
    state = Mutex(State(serialNumber: serialNumber, canEncrypt: canEncrypt))
  }

  var isEstablished: Bool { state.withLock(\.isEstablished) }

  var summary: SecureChannelSummary? {
    guard isEstablished else { return nil }
    let peer = SecureChannelSummary.Peer(
      subject: "CN=app", issuer: "CN=authority", serialNumber: state.withLock(\.serialNumber), notBefore: 0, notAfter: 1
    )
    return SecureChannelSummary(protocolVersion: "test", cipher: "none", peer: peer, isPeerVerified: true)
  }

  /// As if another certificate had been shown.
  func setSerialNumber(_ serialNumber: String?) {
    state.withLock { $0.serialNumber = serialNumber }
  }

  func begin() -> SecureChannelStep { SecureChannelStep(output: [22, 3, 3, 0, 1, 1]) }

  func advance(_ bytes: [UInt8]) -> SecureChannelStep {
    guard bytes == Self.answer else {
      return SecureChannelStep(output: [21, 3, 3, 0, 1, 0], failure: SecureChannelFailure(.invalidData, "no hello"))
    }
    state.withLock { $0.isEstablished = true }
    return SecureChannelStep(output: lastMessage)
  }

  func encrypt(
    _ plaintext: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer
  ) throws(SecureChannelFailure) -> Int {
    guard state.withLock(\.canEncrypt) else { throw SecureChannelFailure(.encryptionFailed, "no memory") }
    destination.copyBytes(from: Self.record(Array(plaintext)))
    return plaintext.count + 5
  }

  func decrypt(_ records: [UInt8]) throws(SecureChannelFailure) -> [UInt8] {
    guard records.starts(with: [23, 3, 3]) else { throw SecureChannelFailure(.decryptionFailed, "no record") }
    return Array(records.dropFirst(5))
  }

  static func record(_ plaintext: [UInt8]) -> [UInt8] {
    [23, 3, 3, UInt8(plaintext.count >> 8), UInt8(plaintext.count & 0xFF)] + plaintext
  }
}

extension TestApp {
  /// An app that is open on a head unit with TLS.
  static func secured(
    _ security: HeadUnitSecurity, _ handshake: HeadUnitBehaviour.Handshake = .regular,
    makeSecureChannel: @escaping SecureChannelFactory = { TestChannel() },
    change: (inout HeadUnitConfiguration) -> Void = { _ in }
  ) -> TestApp {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.security = security
    configuration.behaviour.handshake = handshake
    configuration.behaviour.dropsToNoneAfterRefusal = false
    change(&configuration)
    var app = TestApp(configuration)
    app.session = HeadUnitSession(
      configuration: app.session.configuration, makeSecureChannel: makeSecureChannel)
    app.run { $0.transportConnected(now: $1) }
    app.startSession()
    app.register()
    app.wait(.milliseconds(100))
    app.forget()
    return app
  }

  /// StartService with the E bit.
  mutating func startEncrypted(_ service: ServiceType = .video) {
    var frame = Frame.control(
      .startService, service: service, version: 5, sessionID: 1,
      payload: service == .video ? VideoServiceParameters.standard.bytes(version: 5) : [])
    frame.header.isEncrypted = true
    send(frame)
  }

  mutating func shakeHands(_ bytes: [UInt8] = TestChannel.answer) {
    send(data: SecurityQuery(type: 0x10, queryID: 1, sequenceNumber: 1, binary: bytes).bytes, .control)
  }

  mutating func sendEncrypted(_ rpc: RPCMessage) {
    send(Self.frame(.rpc, TestChannel.record(rpc.payload), isEncrypted: true))
  }

  static func videoFrame(_ payload: [UInt8], isEncrypted: Bool) -> Frame {
    frame(.video, payload, isEncrypted: isEncrypted)
  }

  static func frame(_ service: ServiceType, _ payload: [UInt8], isEncrypted: Bool) -> Frame {
    Frame(
      header: FrameHeader(
        version: 5, isEncrypted: isEncrypted, frameType: .single, service: service, frameInfo: 0, sessionID: 1,
        dataSize: UInt32(payload.count), messageID: 99),
      payload: payload)
  }
}
