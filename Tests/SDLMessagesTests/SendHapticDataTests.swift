import SDLMessages
import Testing

@Suite struct SendHapticDataTests {
  @Test func bytes() throws {
    let data = SendHapticData(rectangles: [
      HapticRectangle(id: 0, x: 12.5, y: 12.5, width: 125, height: 250),
      HapticRectangle(id: 2_000_000_000, x: 0, y: 1e3, width: 0.1, height: 7),
    ])
    let text =
      #"{"hapticRectData":[{"id":0,"rect":{"height":250,"width":125,"x":12.5,"y":12.5}},"#
      + #"{"id":2000000000,"rect":{"height":7,"width":0.1,"x":0,"y":1000}}]}"#
    #expect(String(decoding: data.json.serialized, as: UTF8.self) == text)
    #expect(try SendHapticData(json: json(text)) == data)
    #expect(try SendHapticData(validating: json(text)) == data)
  }

  @Test("the array is there, and empty") func emptyListClears() throws {
    let bytes = SendHapticData(rectangles: []).json.serialized
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"hapticRectData":[]}"#)
    #expect(try SendHapticData(validating: json("{}")) == SendHapticData(rectangles: []))
    #expect(SendHapticData(json: [:]) == SendHapticData(rectangles: []))
  }

  private static let whole = #"{"id":1,"rect":{"x":1,"y":2,"width":3.0,"height":4}}"#

  @Test(arguments: [
    #"{"id":-1,"rect":{"x":1,"y":2,"width":3,"height":4}}"#,
    #"{"id":2000000001,"rect":{"x":1,"y":2,"width":3,"height":4}}"#,
    #"{"rect":{"x":1,"y":2,"width":3,"height":4}}"#, #"{"id":1}"#, #"{"id":1,"rect":[]}"#,
    #"{"id":1,"rect":{"x":1,"y":2,"width":3}}"#, #"{"id":1,"rect":{"x":"1","y":2,"width":3,"height":4}}"#,
    #"{"id":1,"rect":{"x":1e999,"y":2,"width":3,"height":4}}"#, "null", "7",
  ])
  func unreadableRectangles(text: String) throws {
    let parameters = try json(#"{"hapticRectData":[\#(text),\#(Self.whole)]}"#)
    #expect(SendHapticData(validating: parameters) == nil)
    let rectangle = HapticRectangle(id: 1, x: 1, y: 2, width: 3, height: 4)
    #expect(SendHapticData(json: parameters).rectangles == [rectangle])
  }

  @Test func tooMany() throws {
    for (count, isValid) in [(1000, true), (1001, false)] {
      let list = [String](repeating: Self.whole, count: count).joined(separator: ",")
      let parameters = try json(#"{"hapticRectData":[\#(list)]}"#)
      #expect((SendHapticData(validating: parameters) != nil) == isValid)
      #expect(SendHapticData(json: parameters).rectangles.count == 1000)
    }
    #expect(try SendHapticData(validating: json(#"{"hapticRectData":{}}"#)) == nil)
  }
}
