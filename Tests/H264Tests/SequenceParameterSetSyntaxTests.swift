import H264
import Testing

/// Sequence parameter sets that common encoders do not write, put together bit by bit.
private struct Syntax {
  var profileIDC: UInt32 = 66
  var id: UInt32 = 0
  var chromaFormatIDC: UInt32 = 1
  var hasSeparatePlanes = false
  /// One entry per list: nil for absent, else its `delta_scale` values.
  var scalingLists: [[Int]?]?
  /// `pic_order_cnt_type` 1 with these offsets; nil for type 2.
  var orderCountOffsets: [Int]?
  var widthInMBs: UInt32 = 50
  var heightInMapUnits: UInt32 = 30
  var frameMBSOnly = true
  /// Left, right, top, bottom.
  var crop: [UInt32]?

  var bytes: [UInt8] {
    var writer = BitWriter()
    writer.bits(profileIDC, 8)
    writer.bits(0, 8)
    writer.bits(40, 8)
    writer.unsigned(id)
    if profileIDC >= 100 {
      writer.unsigned(chromaFormatIDC)
      if chromaFormatIDC == 3 { writer.flag(hasSeparatePlanes) }
      writer.unsigned(0)
      writer.unsigned(0)
      writer.flag(false)
      writer.flag(scalingLists != nil)
      for list in scalingLists ?? [] {
        writer.flag(list != nil)
        for delta in list ?? [] { writer.signed(delta) }
      }
    }
    writer.unsigned(0)
    writer.unsigned(orderCountOffsets == nil ? 2 : 1)
    if let orderCountOffsets {
      writer.flag(false)
      writer.signed(-5)
      writer.signed(1 << 30)
      writer.unsigned(UInt32(orderCountOffsets.count))
      for offset in orderCountOffsets { writer.signed(offset) }
    }
    writer.unsigned(1)
    writer.flag(false)
    writer.unsigned(widthInMBs - 1)
    writer.unsigned(heightInMapUnits - 1)
    writer.flag(frameMBSOnly)
    if !frameMBSOnly { writer.flag(true) }
    writer.flag(true)
    writer.flag(crop != nil)
    for side in crop ?? [] { writer.unsigned(side) }
    writer.flag(false)
    return writer.nalUnit(header: 0x67)
  }

  func size() throws -> [Int] {
    let set = try SequenceParameterSet(nalUnit: bytes)
    return [set.width, set.height]
  }
}

@Suite struct SequenceParameterSetSyntaxTests {
  @Test func withoutUsabilityInformation() throws {
    let set = try SequenceParameterSet(nalUnit: Syntax(id: 31).bytes)
    #expect(set.id == 31 && set.width == 800 && set.height == 480)
    #expect(set.numReorderFrames == nil && set.videoFullRange == nil && set.matrixCoefficients == nil)
  }

  /// Width, height, and crop units of 4:2:0, 4:2:2, 4:4:4, monochrome; of frames and of fields (H.264, 7-19 to 7-22).
  @Test(arguments: [
    (UInt32(1), false, true, [794, 464]), (2, false, true, [794, 472]), (3, false, true, [797, 472]),
    (0, false, true, [797, 472]), (3, true, true, [797, 472]), (1, false, false, [794, 928]),
    (2, false, false, [794, 944]),
  ])
  func cropping(chromaFormatIDC: UInt32, hasSeparatePlanes: Bool, frameMBSOnly: Bool, size: [Int]) throws {
    let syntax = Syntax(
      profileIDC: 244, chromaFormatIDC: chromaFormatIDC, hasSeparatePlanes: hasSeparatePlanes,
      frameMBSOnly: frameMBSOnly, crop: [1, 2, 3, 5])
    #expect(try syntax.size() == size)
  }

  @Test func croppingEverythingAway() {
    #expect(throws: SequenceParameterSet.Malformed.outOfRange("frame_crop_right_offset")) {
      try Syntax(crop: [200, 200, 0, 0]).size()
    }
    #expect(throws: SequenceParameterSet.Malformed.outOfRange("frame_crop_bottom_offset")) {
      try Syntax(crop: [0, 0, 0, 240]).size()
    }
    #expect(throws: SequenceParameterSet.Malformed.outOfRange("frame_crop_left_offset")) {
      try Syntax(crop: [0xFFFF_FFFE, 0xFFFF_FFFE, 0, 0]).size()
    }
  }

  @Test func scalingLists() throws {
    // Whole lists, lists that end early (8 − 8 = 0), absent ones.
    let small = [Int](repeating: 1, count: 16)
    let lists: [[Int]?] = [small, nil, [-8], nil, [4, -12], nil, [Int](repeating: -1, count: 7) + [-1], nil]
    #expect(try Syntax(profileIDC: 100, scalingLists: lists).size() == [800, 480])
    let large = [Int](repeating: 2, count: 64)
    let twelve: [[Int]?] = [[Int]?](repeating: small, count: 6) + [[Int]?](repeating: large, count: 6)
    #expect(try Syntax(profileIDC: 244, chromaFormatIDC: 3, scalingLists: twelve).size() == [800, 480])
    #expect(throws: SequenceParameterSet.Malformed.outOfRange("delta_scale")) {
      try Syntax(profileIDC: 100, scalingLists: [[128]]).size()
    }
  }

  @Test func pictureOrderCountCycle() throws {
    #expect(try Syntax(orderCountOffsets: (0..<255).map { ($0 - 100) << 23 }).size() == [800, 480])
    #expect(throws: SequenceParameterSet.Malformed.outOfRange("num_ref_frames_in_pic_order_cnt_cycle")) {
      try Syntax(orderCountOffsets: [Int](repeating: 0, count: 256)).size()
    }
  }

  @Test func sizesThatNoLevelAllows() {
    #expect(throws: SequenceParameterSet.Malformed.outOfRange("pic_width_in_mbs_minus1")) {
      try Syntax(widthInMBs: 1025).size()
    }
    #expect(throws: SequenceParameterSet.Malformed.outOfRange("pic_height_in_map_units_minus1")) {
      try Syntax(heightInMapUnits: 0xFFFF_FFFF).size()
    }
  }
}
