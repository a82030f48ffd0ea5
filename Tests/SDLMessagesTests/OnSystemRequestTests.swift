import SDLMessages
import Testing

@Suite struct OnSystemRequestTests {
  private static func request(_ json: String, bulk: String = "") throws -> OnSystemRequest {
    OnSystemRequest(
      RPCMessage(
        type: .notification, function: .onSystemRequest, correlationID: -1,
        parameters: try JSONObject(parsing: Array(json.utf8)), bulk: Array(bulk.utf8)))
  }

  @Test func headersAndBody() throws {
    let request = try Self.request(
      #"{"requestType":"PROPRIETARY","url":"https://a.example/p?x=1","timeout":60,"fileType":"JSON"}"#,
      bulk:
        #"{"HTTPRequest":{"headers":{"ContentType":"application/json","DoOutput":true,"Content-Length":2},"body":"{}"}}"#
    )
    #expect(request.type == "PROPRIETARY" && request.url == "https://a.example/p?x=1")
    #expect(request.timeout == .seconds(60) && request.fileType == "JSON" && request.subtype == nil)
    #expect(request.headers == ["ContentType": "application/json", "DoOutput": "true", "Content-Length": "2"])
    #expect(request.body == Array("{}".utf8))
  }

  /// What is no JSON with headers is the body.
  @Test(arguments: ["", "pppp", "{}", #"{"HTTPRequest":1}"#, "{"]) func bodyAlone(bulk: String) throws {
    let request = try Self.request(#"{"requestType":"HTTP"}"#, bulk: bulk)
    #expect(request.headers == [:] && request.body == Array(bulk.utf8) && request.url == nil)
  }

  @Test func hostileValues() throws {
    let headers = (0..<1000).map { #""h\#($0)":[1]"# }.joined(separator: ",")
    let request = try Self.request(
      #"{"requestType":7,"url":"a\nb","timeout":-1}"#, bulk: #"{"HTTPRequest":{"headers":{\#(headers)},"body":{}}}"#)
    #expect(request.type == "" && request.url == #"a\u{A}b"# && request.timeout == nil)
    #expect(request.headers.count == 100 && request.headers.values.allSatisfy(\.isEmpty) && request.body == [])
  }
}
