import H264

@testable import SDLHeadUnit

extension FuzzTarget {
  /// H.264: parameter sets and slices, as the app reads them of its upstream; byte streams and RTP, as a head unit
  /// does.
  static let video = [
    FuzzTarget("pictures", bytesPerInputByte: 16) { checkPictures($0) },
    FuzzTarget("avcc", bytesPerInputByte: 8) { checkConfiguration($0) },
    FuzzTarget("depacketizer", bytesPerInputByte: 16) { checkDepacketizer($0) },
    FuzzTarget("packetizer", bytesPerInputByte: 64) { checkPacketizer($0) },
    FuzzTarget("byte-stream", bytesPerInputByte: 96) { checkByteStream($0) },
  ]

  /// Access units in either framing: what is read of them, and the repeated pictures that are made of that.
  private static func checkPictures(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    var repeats = RepeatPicture()
    var order = OutputOrder()
    while !input.isEmpty {
      let framing = input.pick([NALUnitFraming.startCodes, .lengths(byteCount: 4), .lengths(byteCount: 1)])
      let unit = input.piece(limit: 2048)
      unit.withUnsafeBytes { unit in
        for nalUnit in NALUnits(unit, framing: framing) {
          rule(nalUnit.range.upperBound <= unit.count && !nalUnit.range.isEmpty, "a NAL unit outside of the bytes")
          if let parameters = try? SequenceParameterSet(nalUnit: unit[nalUnit.range]) {
            rule(parameters.width > 0 && parameters.height > 0, "a picture without a size")
          }
        }
        if case .lengths(let count) = framing { try? NALUnitLengthError.check(unit, lengthByteCount: count) }
        let summary = AccessUnitSummary(scanning: unit, framing: framing)
        rule(!summary.isKeyFrame || summary.hasPicture, "a key frame without a picture")
        repeats.observe(unit, framing: framing)
        if framing == .startCodes { _ = order.observe(unit) }
      }
      guard let picture = repeats.accessUnit() else { continue }
      let summary = picture.withUnsafeBytes { AccessUnitSummary(scanning: $0) }
      rule(summary.hasPicture && !summary.isKeyFrame, "a repeated picture that is none")
    }
  }

  private static func checkConfiguration(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
      guard let configuration = try? DecoderConfiguration(bytes) else { return }
      let units = configuration.sequenceParameterSets + configuration.pictureParameterSets
      rule(units.reduce(0) { $0 + $1.count } <= bytes.count, "parameter sets that are larger than their record")
      rule((1...4).contains(configuration.lengthByteCount), "a length of \(configuration.lengthByteCount) bytes")
      rule(configuration.byteStream.count == units.reduce(0) { $0 + $1.count + 4 }, "another byte stream")
    }
  }

  private static func checkDepacketizer(_ bytes: [UInt8]) {
    let maximum = 4096
    var depacketizer = RTPDepacketizer(maximumAccessUnitSize: maximum)
    var input = FuzzInput(bytes)
    while !input.isEmpty {
      depacketizer.append(input.piece(limit: 1000))
      var items = 0
      while let item = depacketizer.next() {
        items += 1
        guard case .accessUnit(let unit) = item else { continue }
        rule(!unit.bytes.isEmpty && unit.bytes.count <= maximum, "an access unit beyond its bound")
      }
      rule(items <= bytes.count, "more items than bytes")
      rule(depacketizer.bufferedByteCount <= 65_537, "a packet beyond its bound")
    }
    _ = depacketizer.finish()
  }

  /// What is packetised comes out of the depacketiser again.
  private static func checkPacketizer(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    var packetizer = RTPPacketizer(
      sequenceNumber: 65_534, timestamp: .max, synchronizationSource: 1, packetSize: 15 + input.number(below: 256))
    var depacketizer = RTPDepacketizer()
    let unit = Array(input.rest)
    var stream: [UInt8] = []
    var expected: [UInt8] = []
    unit.withUnsafeBytes { unit in
      for nalUnit in AnnexB(unit) where (1...23).contains(nalUnit.type.rawValue) {
        expected += [0, 0, 0, 1] + unit[nalUnit.range]
      }
      for packet in packetizer.packets(of: unit, at: .zero) {
        withUnsafeTemporaryAllocation(byteCount: RTPPacket.maximumPrefixByteCount, alignment: 4) { prefix in
          stream += UnsafeRawBufferPointer(prefix)[..<packet.writePrefix(to: prefix)]
        }
        stream += unit[packet.payloadRange]
      }
    }
    depacketizer.append(stream)
    var found: [UInt8] = []
    while let item = depacketizer.next() {
      switch item {
      case .accessUnit(let unit): found += unit.bytes
      case .fault(let fault): rule(false, "our own RTP breaks a rule: \(fault)")
      }
    }
    rule(found == expected, "RTP carries other bytes")
  }

  /// The stream that a head unit checks, in pieces of any size: the same NAL units as in one piece.
  private static func checkByteStream(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let pieceSize = 1 + Int(input.byte())
    let stream = Array(input.rest)
    rule(units(of: [stream]) == units(of: pieces(stream, pieceSize)), "the pieces change the NAL units")
    var assembler = AccessUnitAssembler(maximumSize: 4096)
    var byteCount = 0
    for piece in pieces(stream, pieceSize) {
      assembler.append(piece)
      while let unit = assembler.next() {
        rule(!unit.isEmpty, "an empty access unit")
        byteCount += unit.count
      }
    }
    byteCount += assembler.flush()?.count ?? 0
    rule(byteCount <= stream.count, "more access units than bytes")
  }

  private static func pieces(_ bytes: [UInt8], _ size: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
  }

  private static func units(of pieces: [[UInt8]]) -> [[UInt8]] {
    var scanner = NALUnitScanner()
    var units: [[UInt8]] = []
    for piece in pieces {
      piece.withUnsafeBytes { piece in
        var rest = piece
        while scanner.next(in: &rest) { units.append(scanner.prefix) }
      }
    }
    return units
  }
}
