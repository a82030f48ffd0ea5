import SDLMessages
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

    @Test func appThatComesBack() throws {
      let phone = try Phone()
      let id = try #require(phone.start()).id
      #expect(phone.register("Map", "1", session: id) == "SUCCESS")
      #expect(phone.request(.setGlobalProperties, ["menuTitle": .string("Map")], session: id) == "SUCCESS")
      let hash = phone.waitFor { frame in
        (try? RPCMessage(payload: frame.payload)).flatMap { rpc in
          rpc.function == .onHashChange ? rpc.parameters["hashID"]?.string : nil
        }
      }
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
