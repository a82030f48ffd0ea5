import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import SDLWire
import Testing

@testable import SDLLink

/// A phone with one connection to a head unit of its own, written by hand.
final class Phone: PhoneConnection {
  let headUnit = HeadUnitRecorder()
  let server: HeadUnitServer

  init(
    address: String? = "127.0.0.1", admission: HeadUnitServer.Admission = HeadUnitServer.Admission(),
    _ change: (inout HeadUnitConfiguration) -> Void = { _ in }
  ) throws {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.activation = nil
    var admission = admission
    admission.sessionIDs = .ascending
    change(&configuration)
    server = try HeadUnitServer(
      configuration: configuration, address: address, port: 0, admission: admission, observer: headUnit)
    try server.start()
    try super.init(port: try #require(server.port))
    // The socket does not wait, so it may still be connecting.
    #expect(headUnit.waitForConnection() == 1)
  }

  func stop() {
    server.stop()
    server.join()
  }
}

/// The phone's end of a connection.
class PhoneConnection {
  private let socket: Socket
  private var decoder = FrameDecoder()
  private var frames: [Frame] = []
  private var nextMessageID: UInt32 = 1
  private(set) var isClosed = false

  init(_ socket: Socket) {
    self.socket = socket
  }

  /// Does not wait for the connection.
  /// - Parameter isStranger: whether it comes from another address of this machine, 127.0.0.2.
  init(port: UInt16, isStranger: Bool = false) throws {
    socket = try #require(Socket.tcp(family: AF_INET))
    func call(
      _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ host: UInt32, _ port: UInt16
    ) -> Int32 {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = host.bigEndian
      return withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          function(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
    if isStranger { #expect(call({ bind($0, $1, $2) }, 0x7F00_0002, 0) == 0) }
    _ = call({ connect($0, $1, $2) }, 0x7F00_0001, port)
  }

  /// Sends no more, and reads no more.
  func close() { _ = shutdown(socket.descriptor, Int32(SHUT_RDWR)) }

  func send(_ control: ControlFrame, _ service: ServiceType, session: UInt8, payload: [UInt8] = []) {
    socket.write(
      Frame.control(
        control, service: service, version: service == .rpc && session == 0 ? 1 : 5, sessionID: session,
        messageID: session == 0 ? 0 : 1, payload: payload
      ).bytes)
  }

  func send(_ bytes: [UInt8]) { socket.write(bytes) }

  /// Starts a session.
  /// - Returns: its id and its hash; nil if it was refused.
  func start() -> (id: UInt8, hash: Int32?)? {
    send(.startService, .rpc, session: 0, payload: RPCServiceRequest(protocolVersion: ProtocolVersion(5, 4)).bytes)
    let answer = waitFor { $0.header.service == .rpc && $0.header.frameType == .control ? $0 : nil }
    guard let answer, answer.header.controlFrame == .startServiceACK else { return nil }
    return (answer.header.sessionID, RPCServiceAcknowledgement(payload: answer.payload, version: 5).hashID)
  }

  func send(_ function: FunctionID, _ parameters: JSONObject, session: UInt8) {
    let rpc = RPCMessage(type: .request, function: function, correlationID: 9, parameters: parameters)
    let message = Fragmentation(
      service: .rpc, version: 5, sessionID: session, messageID: nextMessageID, payloadSize: rpc.payload.count,
      maximumPayload: 100_000)
    nextMessageID += 1
    socket.write(message.frames(of: rpc.payload))
  }

  /// - Returns: the result code of the response.
  func request(_ function: FunctionID, _ parameters: JSONObject, session: UInt8) -> String? {
    send(function, parameters, session: session)
    return waitFor { frame in
      guard frame.header.sessionID == session, let rpc = try? RPCMessage(payload: frame.payload),
        rpc.type == .response, rpc.function == function
      else { return nil }
      return RPCResult(json: rpc.parameters).resultCode
    }
  }

  func register(_ name: String, _ id: String, session: UInt8) -> String? {
    let request = RegisterAppInterface(
      rpcVersion: RPCVersion(8), appName: name, appID: id, language: "EN-US", isMediaApplication: false,
      appTypes: [.navigation])
    return self.request(.registerAppInterface, request.json, session: session)
  }

  /// The first frame from now on that matches; it and those before it are removed.
  func waitFor<Result>(_ match: (Frame) -> Result?) -> Result? {
    var result: Result?
    _ = eventually {
      receive()
      while result == nil, !frames.isEmpty { result = match(frames.removeFirst()) }
      return result != nil || (isClosed && frames.isEmpty)
    }
    return result
  }

  func waitForControl(_ control: ControlFrame, _ service: ServiceType, session: UInt8) -> Bool {
    waitFor {
      $0.header.controlFrame == control && $0.header.service == service && $0.header.sessionID == session
        ? true : nil
    } ?? false
  }

  func waitForClose() -> Bool {
    eventually {
      receive()
      return isClosed
    }
  }

  private func receive() {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    switch buffer.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
    case .bytes(let count): decoder.append(Array(buffer[..<count]))
    case .wouldBlock: break
    case .endOfStream, .failed: isClosed = true
    }
    while case .frame(let frame)? = decoder.next() { frames.append(frame) }
  }
}
