import SDLWire
import Testing
import TestSupport

@Suite struct BSONTests {
  /// Bytes of the `bson` package of PyMongo for
  /// `{"d": 1.5, "s": "é", "o": {"k": true}, "a": [1, "x"], "b": False, "i": -2, "l": Int64(2**40)}`.
  private static let everyTypeBytes = [UInt8](
    hex: """
      54 00 00 00 01 64 00 00 00 00 00 00 00 F8 3F 02 73 00 03 00 00 00 C3 A9 00 03 6F 00 09 00 00 00 08 6B 00 01 00
      04 61 00 15 00 00 00 10 30 00 01 00 00 00 02 31 00 02 00 00 00 78 00 00 08 62 00 00 10 69 00 FE FF FF FF
      12 6C 00 00 00 00 00 00 01 00 00 00
      """)
  private static let everyType = BSONDocument([
    ("d", .double(1.5)), ("s", .string("é")), ("o", .document(BSONDocument([("k", .bool(true))]))),
    ("a", .array([.int32(1), .string("x")])), ("b", .bool(false)), ("i", .int32(-2)), ("l", .int64(1 << 40)),
  ])

  private func failure(_ bytes: [UInt8]) -> BSONDocument.Malformed? {
    do throws(BSONDocument.Malformed) {
      _ = try BSONDocument(decoding: bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test func everyTypeBothDirections() throws {
    #expect(try BSONDocument(decoding: Self.everyTypeBytes) == Self.everyType)
    #expect(Self.everyType.bytes == Self.everyTypeBytes)
  }

  /// Swift compares texts with many combining marks in a time that grows with the square of their number.
  @Test func manyCombiningMarks() throws {
    let text = "e" + String(repeating: "\u{301}\u{323}", count: 100)
    let document = try BSONDocument(decoding: BSONDocument([(text, .string(text))]).bytes)
    #expect(document.bytes == BSONDocument([(text.streamSafe, .string(text.streamSafe))]).bytes)
  }

  @Test func extremes() throws {
    let document = BSONDocument([
      ("", .string("")), ("max", .int64(.max)), ("min", .int64(.min)), ("i", .int32(.min)), ("inf", .double(.infinity)),
      ("e", .array([])), ("nul", .string("a\0b")), ("o", .document(BSONDocument())),
    ])
    #expect(try BSONDocument(decoding: document.bytes) == document)
  }

  @Test func lookUp() {
    let document = Self.everyType
    #expect(document.string("s") == "é" && document.int32("i") == -2 && document.int64("l") == 1 << 40)
    #expect(document.strings("a") == ["x"] && document.int32s("a") == [1])
    #expect(document.string("i") == nil && document.int32("l") == nil && document.int64("i") == nil)
    #expect(document.strings("s") == nil && document["missing"] == nil)
    #expect(BSONDocument([("k", .int32(1)), ("k", .int32(2))]).int32("k") == 1)
  }

  @Test func bytesBehindTheDocumentAreIgnored() throws {
    #expect(try BSONDocument(decoding: Self.everyTypeBytes + [1, 2, 3]) == Self.everyType)
  }

  @Test func truncatedAnywhere() {
    for length in 0..<Self.everyTypeBytes.count {
      #expect(failure(Array(Self.everyTypeBytes.prefix(length))) != nil, "\(length) bytes")
    }
  }

  @Test(arguments: [
    ("", BSONDocument.Malformed.truncated),
    ("05 00 00", .truncated),
    ("04 00 00 00 00", .length(4)),
    ("FF FF FF FF 00", .length(-1)),
    ("FF FF FF 7F 00", .length(.max)),
    // No end of the document; bytes after the end within the length.
    ("07 00 00 00 08 62 00", .truncated),
    ("06 00 00 00 00 00", .length(6)),
    // A key without its NUL.
    ("08 00 00 00 10 61 61 61", .truncated),
    // Strings: no length, too long, negative, without NUL, not UTF-8.
    ("0C 00 00 00 02 61 00 00 00 00 00 00", .length(0)),
    ("0D 00 00 00 02 61 00 09 00 00 00 78 00", .length(9)),
    ("0D 00 00 00 02 61 00 FF FF FF FF 78 00", .length(-1)),
    ("0E 00 00 00 02 61 00 02 00 00 00 78 79 00", .truncated),
    ("0E 00 00 00 02 61 00 02 00 00 00 FF 00 00", .notUTF8),
    ("0C 00 00 00 10 FE 00 01 00 00 00 00", .notUTF8),
    // A Boolean of 2, types outside the subset, an inner document longer than the outer.
    ("09 00 00 00 08 62 00 02 00", .boolean(2)),
    ("08 00 00 00 0A 6E 00 00", .type(0x0A)),
    ("10 00 00 00 09 74 00 00 00 00 00 00 00 00 00 00", .type(0x09)),
    ("0D 00 00 00 03 6F 00 40 00 00 00 00 00", .length(64)),
  ])
  func malformed(hex: String, expected: BSONDocument.Malformed) {
    #expect(failure([UInt8](hex: hex)) == expected)
  }

  @Test func depth() {
    func nested(_ depth: Int) -> BSONDocument {
      (1..<depth).reduce(into: BSONDocument()) { document, index in
        document = BSONDocument([("d", index % 2 == 0 ? .document(document) : .array([.document(document)]))])
      }
    }
    func documents(_ depth: Int) -> BSONDocument {
      (1..<depth).reduce(into: BSONDocument()) { document, _ in document = BSONDocument([("d", .document(document))]) }
    }
    #expect(failure(documents(4).bytes) == nil && failure(documents(5).bytes) == .limit)
    #expect(failure(nested(100).bytes) == .limit)
    #expect(failure(nested(3000).bytes) == .limit)
  }

  @Test func elements() {
    func wide(_ count: Int) -> BSONDocument {
      BSONDocument([("a", .array([BSONValue](repeating: .int32(0), count: count)))])
    }
    #expect(failure(wide(1023).bytes) == nil)
    #expect(failure(wide(1024).bytes) == .limit)
    // The limit is for the whole document, not for each part.
    let parts = BSONDocument([("a", wide(600)["a"]), ("b", wide(600)["a"])])
    #expect(failure(parts.bytes) == .limit)
  }
}
