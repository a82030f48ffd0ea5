import SDLMessages
import SDLWire
import Testing

@Suite struct SecurityQueryTests {
  @Test func error() throws {
    let query = SecurityQuery.error(.invalidData, "a \"bad\" record")
    #expect(query.json == Array(#"{"id":8,"text":"a \"bad\" record"}"#.utf8))
    #expect(query.type == 0x20 && query.queryID == 2 && query.binary == [8])
    let read = try #require(SecurityQuery(payload: query.bytes))
    #expect(read == query)
    #expect(read.error.code == .invalidData && read.error.text == "a \"bad\" record")
  }

  /// SDL's libraries use 254, and some heads no JSON at all.
  @Test func unusualErrors() {
    func error(_ json: String, _ binary: [UInt8]) -> (code: SecurityErrorCode?, text: String?) {
      SecurityQuery(type: 0x20, queryID: 2, sequenceNumber: 0, json: Array(json.utf8), binary: binary).error
    }
    #expect(error(#"{"id":254,"text":"x"}"#, [254]) == (nil, "x"))
    #expect(error("", [11]) == (.certificateExpired, nil))
    #expect(error("{", []) == (nil, nil))
    #expect(error(#"{"id":-1}"#, []) == (nil, nil))
    #expect(SecurityQuery(type: 0, queryID: 1, sequenceNumber: 0, binary: [8]).error == (nil, nil))
  }
}
