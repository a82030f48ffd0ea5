import SDLMessages
import SDLWire
import Testing

extension LinkTests {
  /// An app whose connection breaks goes on with its menus, if it knows the hash.
  @Suite struct ResumptionTests {
    private func register(_ phone: PhoneConnection, hash: String) throws -> String? {
      let id = try #require(phone.start()).id
      var request = RegisterAppInterface(
        rpcVersion: RPCVersion(8), appName: "Map", appID: "1", language: "EN-US", isMediaApplication: false,
        appTypes: [.navigation]
      ).json
      request["hashID"] = .string(hash)
      return phone.request(.registerAppInterface, request, session: id)
    }

    /// The one connection of several apps breaks for what one of them has sent.
    @Test func anotherAppsFault() throws {
      let phone = try Phone()
      for (id, name) in [(1, "Radio"), (2, "Map")] as [(UInt8, String)] {
        #expect(phone.start()?.id == id)
        #expect(phone.register(name, "\(3 - id)", session: id) == "SUCCESS")
      }
      #expect(phone.request(.setGlobalProperties, ["menuTitle": .string("Map")], session: 2) == "SUCCESS")
      let hash = try #require(newHash(of: phone))
      for _ in 0..<20 { phone.send([0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + heartbeat(session: 1)) }
      #expect(phone.waitForClose())
      let again = try PhoneConnection(port: try #require(phone.server.port))
      #expect(try register(again, hash: hash) == "SUCCESS")
      again.close()
      phone.stop()
    }

    private func heartbeat(session: UInt8) -> [UInt8] {
      Frame.control(.heartbeatACK, service: .control, version: 5, sessionID: session, messageID: 1).bytes
    }

    private func newHash(of phone: PhoneConnection) -> String? {
      phone.waitFor { frame in
        (try? RPCMessage(payload: frame.payload)).flatMap { rpc in
          rpc.function == .onHashChange ? rpc.parameters["hashID"]?.string : nil
        }
      }
    }

    @Test func appThatComesBack() throws {
      let phone = try Phone()
      let id = try #require(phone.start()).id
      #expect(phone.register("Map", "1", session: id) == "SUCCESS")
      #expect(phone.request(.setGlobalProperties, ["menuTitle": .string("Map")], session: id) == "SUCCESS")
      let hash = newHash(of: phone)
      phone.close()
      let port = try #require(phone.server.port)
      let again = try PhoneConnection(port: port)
      #expect(try register(again, hash: try #require(hash)) == "SUCCESS")
      again.close()
      let wrong = try PhoneConnection(port: port)
      #expect(try register(wrong, hash: "of another time") == "RESUME_FAILED")
      wrong.close()
      phone.stop()
    }
  }
}
