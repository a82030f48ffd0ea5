import SDLWire
import Testing

private func message(size: Int, maximum: Int, id: UInt32 = 1) -> Fragmentation {
  Fragmentation(service: .video, version: 5, sessionID: 1, messageID: id, payloadSize: size, maximumPayload: maximum)
}

private func payload(_ size: Int) -> [UInt8] {
  (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
}

@Suite struct FragmentationTests {
  /// Sizes around one, two and three frames, and around the 255 running numbers.
  @Test func roundTrips() throws {
    for maximum in [1, 2, 7, 100] {
      let frameCounts: [Int] = [1, 2, 3, 254, 255, 256, 257, 510, 511, 512]
      var sizes: [Int] = [1, 2, 3]
      for count in frameCounts {
        let size = count * maximum
        sizes += [size - 1, size, size + 1]
      }
      for size in sizes where size > 0 {
        let payload = payload(size)
        let decoded = frames(decode(message(size: size, maximum: maximum).frames(of: payload)))
        let announcements = size <= maximum ? 0 : 1
        #expect(decoded.count == announcements + (size - 1) / maximum + 1)
        let full = decoded.dropFirst(announcements).dropLast()
        #expect(full.allSatisfy { $0.payload.count == maximum })
        var assembler = MessageAssembler()
        let messages = try decoded.compactMap { try assembler.accept($0, now: .zero) }
        #expect(messages.map(\.payload) == [payload], "\(size) in \(maximum)")
        #expect(assembler.nextDeadline == nil)
      }
    }
  }

  @Test func runningNumbers() {
    let infos = message(size: 600, maximum: 1).map(\.header.frameInfo)
    #expect(infos.first == 0)
    let expected = (0..<599).map { UInt8($0 % 255 + 1) }
    #expect(Array(infos.dropFirst().dropLast()) == expected)
    #expect(infos.last == 0)
  }

  @Test func announcement() {
    let first = message(size: 100, maximum: 30).first { _ in true }
    #expect(first?.content == .announcement(totalSize: 100, frameCount: 4))
    #expect(first?.header.dataSize == 8 && first?.payloadRange.isEmpty == true)
  }

  @Test func nothingToSend() {
    #expect(message(size: 0, maximum: 100).frames(of: []).isEmpty)
    #expect(Array(message(size: -1, maximum: 100)).isEmpty)
    #expect(Array(message(size: 1 << 33, maximum: 100)).isEmpty)
  }

  /// The maximum may come from a head unit.
  @Test(arguments: [0, -1, Int.min]) func absurdMaximum(maximum: Int) {
    #expect(message(size: 3, maximum: maximum).map(\.payloadRange) == [0..<0, 0..<1, 1..<2, 2..<3])
  }

  @Test func largestMaximum() {
    #expect(message(size: 5, maximum: .max).map(\.payloadRange) == [0..<5])
  }

  @Test func prefixFitsItsMaximum() {
    for fragment in message(size: 100, maximum: 30) {
      withUnsafeTemporaryAllocation(byteCount: Fragmentation.Fragment.maximumPrefixByteCount, alignment: 1) { buffer in
        let size = fragment.writePrefix(to: buffer)
        #expect(size == (fragment.payloadRange.isEmpty ? 20 : 12))
        #expect(Array(buffer.prefix(12)) == fragment.header.bytes)
      }
    }
  }
}
