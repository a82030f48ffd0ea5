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
      for _ in 0..<10 { try cycle() }
      // Something may be allocated once for later; a leak is there each time.
      let growth = try (0..<4).map { _ in
        let before = allocatedBytes
        for _ in 0..<20 { try cycle() }
        return allocatedBytes - before
      }
      // 32 bytes a cycle are less than any of x264's structures, and than the strings of the option `stats`.
      #expect(growth.contains { $0 < 20 * 32 }, "\(growth)")
    }
  }
}
