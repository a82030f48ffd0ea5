import Glibc
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import SDLLink

extension LinkTests {
  /// Several apps of a phone on one connection, each in a session of its own.
  @Suite struct SharedConnectionTests {
    /// The phone's end of a connection, written by hand.
    private final class Phone {
      let headUnit = HeadUnitRecorder()
      let server: HeadUnitServer
      private let socket: Socket
      private var decoder = FrameDecoder()
      private var frames: [Frame] = []
      private var nextMessageID: UInt32 = 1
      private(set) var isClosed = false

      init() throws {
        var configuration = HeadUnitPreset.standard.configuration
        configuration.activation = nil
        server = try HeadUnitServer(
          configuration: configuration, address: "127.0.0.1", port: 0, observer: headUnit)
        socket = try #require(Socket.tcp(family: AF_INET))
        try server.start()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = try #require(server.port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = withUnsafePointer(to: address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }
        // The socket does not wait, so it may still be connecting.
        #expect(headUnit.waitForConnection() == 1)
      }

      func stop() {
        server.stop()
        server.join()
      }

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

    /// Two registered apps.
    private func pair() throws -> Phone {
      let phone = try Phone()
      for (id, name) in [(1, "First"), (2, "Second")] as [(UInt8, String)] {
        #expect(phone.start()?.id == id)
        #expect(phone.register(name, name, session: id) == "SUCCESS")
      }
      return phone
    }

    private func unregistrations(of phone: Phone) -> [UInt8] {
      var ids: [UInt8] = []
      _ = phone.headUnit.hasReported { event in
        if case .session(let id, .appUnregistered) = event { ids.append(id) }
        return false
      }
      return ids
    }

    /// Each session has its own id, hash and registration; names are taken as on two connections.
    @Test func secondSession() throws {
      let phone = try Phone()
      for (id, hash) in [(1, 0x0001_0001), (2, 0x0002_0001), (3, 0x0003_0001)] as [(UInt8, Int32)] {
        let session = try #require(phone.start())
        #expect(session.id == id && session.hash == hash)
      }
      #expect(phone.register("First", "first", session: 1) == "SUCCESS")
      #expect(phone.request(.listFiles, [:], session: 2) == "APPLICATION_NOT_REGISTERED")
      #expect(phone.register("Second", "second", session: 2) == "SUCCESS")
      // A refused registration ends its session, and no other. The next start takes its place.
      #expect(phone.register("first", "third", session: 3) == "DUPLICATE_NAME")
      #expect(phone.waitForControl(.endService, .rpc, session: 3))
      #expect(phone.request(.listFiles, [:], session: 1) == "SUCCESS")
      #expect(phone.start()?.id == 3)
      #expect(phone.register("Third", "third", session: 3) == "SUCCESS")
      #expect(phone.headUnit.connectionIDs == [1, 2, 3] && phone.headUnit.protocolViolations == [])
      phone.stop()
      // The end of the connection is that of all.
      #expect(unregistrations(of: phone) == [1, 2, 3])
    }

    @Test func endOfOneLeavesTheOther() throws {
      let phone = try pair()
      let end = EndServiceRequest(hashID: 0x0001_0001)
      phone.send(.endService, .rpc, session: 1, payload: end.bytes(version: 5))
      #expect(phone.waitForControl(.endServiceACK, .rpc, session: 1))
      #expect(phone.request(.listFiles, [:], session: 2) == "SUCCESS")
      #expect(unregistrations(of: phone) == [1])
      phone.stop()
    }

    /// The connection is closed with the last session.
    @Test func unregistrationOfOneLeavesTheOther() throws {
      let phone = try pair()
      phone.server.unregisterApp(.protocolViolation, for: 1)
      #expect(phone.waitForControl(.endService, .rpc, session: 1))
      #expect(phone.request(.listFiles, [:], session: 2) == "SUCCESS" && !phone.isClosed)
      phone.server.unregisterApp(.protocolViolation, for: 2)
      #expect(phone.waitForClose())
      phone.stop()
    }

    /// One screen, as for apps on two connections.
    @Test func videoOfBoth() throws {
      let phone = try pair()
      let parameters = VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264")
      for id in [1, 2] as [UInt8] {
        phone.server.perform(.activate(id))
        #expect(eventually { phone.headUnit.statuses(of: id).last?.level == .full })
        phone.send(.startService, .video, session: id, payload: parameters.bytes(version: 5))
        #expect(phone.waitForControl(.startServiceACK, .video, session: id))
      }
      #expect(phone.headUnit.statuses(of: 1).last?.level == .background)
      // There is one video service at a time.
      #expect(phone.waitForControl(.endService, .video, session: 1))
      let reason = phone.headUnit.waitFor { event in
        if case .session(1, .videoStopped(let reason)) = event { reason } else { nil }
      }
      #expect(reason == .otherAppStarted)
      phone.stop()
    }

    /// An alert of one is in front of the other.
    @Test func alertInFrontOfTheOther() throws {
      let phone = try pair()
      phone.server.perform(.activate(1))
      phone.server.setHMIStatus(HMIStatus(level: .limited, videoStreamingState: .notStreamable), for: 2)
      #expect(eventually { phone.headUnit.statuses(of: 2).last?.level == .limited })
      let buttons = JSONValue.array([.object(["softButtonID": .integer(7)])])
      phone.send(.alert, ["alertText1": .string(""), "softButtons": buttons], session: 2)
      let obscured = phone.headUnit.waitFor { event in
        if case .session(1, .systemContextSent(let status)) = event { status.systemContext } else { nil }
      }
      #expect(obscured == .obscured)
      #expect(phone.request(.alert, ["alertText1": .string("")], session: 1) == "REJECTED")
      // The driver presses what is in front of the screen, not what is on it.
      phone.server.perform(.driverInput(.softButton(7)))
      let context = phone.headUnit.waitFor { event -> SystemContext? in
        if case .session(1, .systemContextSent(let status)) = event, status.systemContext == .main {
          return status.systemContext
        }
        return nil
      }
      #expect(context == .main)
      phone.stop()
    }

    @Test func violationsAreOfTheirSession() throws {
      let phone = try pair()
      phone.send(.endService, .video, session: 2)
      #expect(phone.waitForControl(.endServiceNAK, .video, session: 2))
      // A session that was never started is reported by the first.
      phone.send(.endService, .video, session: 7)
      #expect(phone.waitForControl(.endServiceNAK, .video, session: 7))
      #expect(phone.headUnit.protocolViolations == [.endOfServiceNotRunning(.video), .sessionID(expected: 1, got: 7)])
      #expect(phone.headUnit.violatingIDs == [2, 1])
      phone.stop()
    }

    @Test func boundedNumberOfSessions() throws {
      let phone = try Phone()
      let most = HeadUnitServer.Admission().maximumSessionCount
      let ids = (0...most).map { _ in phone.start()?.id }
      #expect(ids == (1...most).map { UInt8($0) } + [nil])
      #expect(phone.register("First", "first", session: 1) == "SUCCESS")
      #expect(phone.headUnit.protocolViolations == [])
      phone.stop()
    }

    /// Too much of what can't be read closes the transport, and so ends all of its sessions.
    @Test func malformedFramesEndAll() throws {
      let phone = try pair()
      // Message id 0, which SDL Core refuses; more often than it tolerates in a second.
      let malformed: [UInt8] = [0x51, 0x07, 0x00, 0x02, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2]
      for _ in 0..<20 { phone.send(malformed) }
      #expect(phone.waitForClose())
      phone.stop()
      #expect(Set(unregistrations(of: phone)) == [1, 2])
      #expect(Set(phone.headUnit.violatingIDs) == [2])
    }
  }
}
