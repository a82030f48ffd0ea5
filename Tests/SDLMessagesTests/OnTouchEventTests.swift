import SDLMessages
import Testing

@Suite struct OnTouchEventTests {
  private typealias Sample = OnTouchEvent.Sample

  private static func finger(_ id: Int, _ samples: (Int, Int, Int?)...) -> OnTouchEvent.Finger {
    OnTouchEvent.Finger(id: id, samples: samples.map { Sample(x: $0.0, y: $0.1, time: $0.2) })
  }

  @Test func bytes() throws {
    let event = OnTouchEvent(kind: .begin, fingers: [Self.finger(0, (400, 240, 123456))])
    let text = #"{"event":[{"c":[{"x":400,"y":240}],"id":0,"ts":[123456]}],"type":"BEGIN"}"#
    #expect(String(decoding: event.json.serialized, as: UTF8.self) == text)
    #expect(try OnTouchEvent(json: json(text)) == event)
  }

  @Test(arguments: OnTouchEvent.Kind.allCases) func kinds(kind: OnTouchEvent.Kind) throws {
    let text = #"{"type":"\#(kind.rawValue)","event":[]}"#
    #expect(try OnTouchEvent(json: json(text)) == OnTouchEvent(kind: kind, fingers: []))
  }

  @Test func historyOfSeveralFingers() throws {
    let text = """
      {"type":"MOVE","event":[
        {"id":0,"ts":[1,2,3],"c":[{"x":10,"y":10},{"x":20,"y":20},{"x":30,"y":30}]},
        {"id":9,"ts":[7],"c":[{"x":0,"y":10000},{"x":1.0,"y":2}]},
        {"id":3,"c":[{"x":5,"y":6}]},
        {"id":4,"ts":[1,2],"c":[]}]}
      """
    let event = OnTouchEvent(
      kind: .move,
      fingers: [
        Self.finger(0, (10, 10, 1), (20, 20, 2), (30, 30, 3)), Self.finger(9, (0, 10_000, 7), (1, 2, 7)),
        Self.finger(3, (5, 6, nil)), Self.finger(4),
      ])
    #expect(try OnTouchEvent(json: json(text)) == event)
  }

  @Test(
    arguments: [
      (#"{"id":0,"ts":[1],"c":[{"x":-3,"y":12000}]}"#, [finger(0, (0, 10_000, 1))]),
      (#"{"id":0,"ts":[1,2],"c":[{"x":"3","y":1},{"x":4,"y":5}]}"#, [finger(0, (4, 5, 2))]),
      (#"{"id":0,"ts":[-1],"c":[{"x":4,"y":5}]}"#, [finger(0, (4, 5, nil))]),
      (#"{"id":0,"ts":[2000000001],"c":[{"x":4,"y":5}]}"#, [finger(0, (4, 5, nil))]),
      (#"{"id":0,"ts":"soon","c":[{"x":4,"y":5}]}"#, [finger(0, (4, 5, nil))]),
      (#"{"id":0,"c":"nowhere"}"#, [finger(0)]), (#"{"id":10,"c":[]}"#, []), (#"{"id":-1,"c":[]}"#, []),
      (#"{"c":[{"x":4,"y":5}]}"#, []), ("7", []), ("null", []),
    ] as [(String, [OnTouchEvent.Finger])])
  func leniency(event: String, fingers: [OnTouchEvent.Finger]) throws {
    let parameters = try json(#"{"type":"MOVE","event":[\#(event)]}"#)
    #expect(OnTouchEvent(json: parameters) == OnTouchEvent(kind: .move, fingers: fingers))
  }

  @Test func unknownKind() throws {
    #expect(try OnTouchEvent(json: json(#"{"type":"HOVER","event":[{"id":0,"c":[]}]}"#)).kind == nil)
    #expect(OnTouchEvent(json: [:]) == OnTouchEvent(kind: nil, fingers: []))
  }

  @Test func limits() throws {
    let sample = #"{"x":1,"y":2}"#
    let samples = [String](repeating: sample, count: 1500).joined(separator: ",")
    let fingers = [String](repeating: #"{"id":1,"ts":[5],"c":[\#(samples)]}"#, count: 12).joined(separator: ",")
    let event = try OnTouchEvent(json: json(#"{"type":"MOVE","event":[\#(fingers)]}"#))
    #expect(event.fingers.count == 10)
    #expect(event.fingers.allSatisfy { $0.samples.count == 1000 })
  }
}
