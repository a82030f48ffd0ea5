import TestSupport
import Testing
import X264Encoder

extension X264EncoderTests {
  /// Measurements of the whole process, so that no other test may run at the same time: `make test` runs these alone.
  @Suite struct WholeProcess {
    @Test func openAndCloseLeaveNothing() throws {
      // With one thread: the allocator's arenas for several grow by themselves and would hide a small leak.
      func cycle() throws {
        let encoder = try EncoderSettings.test(
          160, 96, threads: 1, options: "subme=1:stats=\(String(repeating: "x", count: 400))"
        ).encoder()
        _ = try encoder.encode(try Panorama.smooth.planes(at: (x: 0, y: 0)), timestamp: 0)
        try encoder.setBitrate(500)
        #expect(throws: EncoderError.self) { try EncoderSettings.test(options: "cqmfile=x").encoder() }
      }
      for _ in 0..<100 { try cycle() }
      var growths: [Int] = []
      // The allocator may grow once, for other reasons; a leak is there each time.
      for _ in 0..<3 where growths.last.map({ $0 >= 200_000 }) ?? true {
        let before = try residentBytes()
        for _ in 0..<500 { try cycle() }
        growths.append(try residentBytes() - before)
      }
      // 400 bytes a cycle: less than one of x264's parameter structures, and than the strings of the option `stats`.
      #expect(growths.last.map { $0 < 200_000 } == true, "\(growths)")
    }
  }
}
