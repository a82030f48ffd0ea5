import H264
import Testing
import TestSupport

private func summary(_ hex: String) -> AccessUnitSummary {
  summary([UInt8](hex: hex))
}

private func summary(_ bytes: [UInt8]) -> AccessUnitSummary {
  bytes.withUnsafeBytes { AccessUnitSummary(scanning: $0) }
}

@Suite struct AccessUnitSummaryTests {
  /// The first access unit of x264 with `tune=zerolatency`, 800×380, its SEI and slice cut short.
  @Test func keyFrameWithParameterSets() {
    let found = summary(
      """
      00 00 00 01 09 10 00 00 00 01 67 42 C0 16 DA 03 20 C7 EF 01 6A 0C 0C 0D 4A 00 00 03 00 02 00 00 03 00 3D 1E 2C 5D
      40 00 00 00 01 68 CE 3C 80 00 00 01 06 05 FF FF B0 DC 45 E9 BD E6 80 00 00 01 65 88 84 0A F1
      """)
    #expect(found.firstNALUnit == .accessUnitDelimiter)
    #expect(found.sequenceParameterSet == 10..<39)
    #expect(found.hasSequenceParameterSet && found.hasPictureParameterSet && found.hasPicture && found.isKeyFrame)
  }

  @Test func predictedPicture() {
    let found = summary("00 00 00 01 41 9A 24 6C")
    #expect(found.firstNALUnit == .nonIDRSlice)
    #expect(found.hasPicture && !found.isKeyFrame)
    #expect(!found.hasSequenceParameterSet && !found.hasPictureParameterSet && found.sequenceParameterSet == nil)
  }

  private static let headers = "00 00 01 67 42 C0 16 00 00 01 68 CE 3C 80 "

  @Test(arguments: [
    ("a recovery point", "00 00 01 06 06 01 C4 80 00 00 01 41 9A", RandomAccess.recoveryPoint(frameCount: 0)),
    ("after 29 frames", "00 00 01 06 06 02 0F 44 80 00 00 01 41 9A", .recoveryPoint(frameCount: 29)),
    (
      "after a message of another kind", "00 00 01 06 01 01 12 06 01 C4 80 00 00 01 41 9A",
      .recoveryPoint(frameCount: 0)
    ),
    (
      "in the second of two units", "00 00 01 06 01 01 12 80 00 00 01 06 06 01 C4 80 00 00 01 41 9A",
      .recoveryPoint(frameCount: 0)
    ),
    ("a message that only contains one", "00 00 01 06 05 03 06 01 C4 80 00 00 01 41 9A", nil),
    ("a message cut short", "00 00 01 06 06 00 00 01 41 9A", nil),
    ("an endless message", "00 00 01 06 FF FF FF FF 06 00 00 01 41 9A", nil),
    ("an I picture behind parameter sets", headers + "00 00 01 41 88 84", .intraPicture),
    ("an I slice, of whatever kind the others are", headers + "00 00 01 41 B8 84", .intraPicture),
    ("an I picture alone", "00 00 01 41 88 84", nil),
    ("a P picture behind parameter sets", headers + "00 00 01 41 9A 24", nil),
    ("an IDR picture with a recovery point", "00 00 01 06 06 01 C4 80 00 00 01 65 88", .instantaneousRefresh),
  ])
  func randomAccess(_ name: String, _ hex: String, _ expected: RandomAccess?) {
    #expect(summary(hex).randomAccess == expected, "\(name)")
    #expect(summary(hex).isKeyFrame == (expected != nil))
  }

  @Test func partitionedPicture() {
    let found = summary("00 00 01 42 9A 00 00 01 43 11 00 00 01 44 22")
    #expect(found.firstNALUnit == .dataPartitionA)
    #expect(found.hasPicture && !found.isKeyFrame)
  }

  @Test func parameterSetsAlone() {
    let found = summary("00 00 00 01 67 42 C0 16 00 00 01 68 CE 3C 80 00 00")
    #expect(found.firstNALUnit == .sequenceParameterSet)
    #expect(found.sequenceParameterSet == 4..<8)
    #expect(found.hasPictureParameterSet && !found.hasPicture && !found.isKeyFrame)
  }

  @Test func firstOfTwoSequenceParameterSets() {
    #expect(summary("00 00 01 67 42 00 00 01 67 64 00 00 01 65 88").sequenceParameterSet == 3..<5)
  }

  @Test func stopsAtTheFirstSlice() {
    #expect(!summary("00 00 01 65 88 00 00 01 68 CE").hasPictureParameterSet)
  }

  @Test(arguments: ["", "65 88 84", "00 00 01", "00 00 01 00", "00 00 00 01 00 00 01"])
  func nothing(hex: String) {
    let found = summary(hex)
    #expect(found.firstNALUnit == nil && !found.hasPicture && !found.hasSequenceParameterSet)
  }

  /// For random bytes, the summary agrees with the list of NAL units up to the first slice.
  @Test func agreesWithTheIteration() {
    var generator = SeededGenerator(seed: 2)
    let alphabet: [UInt8] = [0, 0, 0, 0, 1, 1, 3, 0x09, 0x67, 0x68, 0x65, 0x41, 0x42]
    for _ in 0..<5000 {
      let bytes = (0..<Int.random(in: 0...50, using: &generator)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
      }
      let all = bytes.withUnsafeBytes { Array(AnnexB($0)) }
      let slice = all.firstIndex(where: \.type.startsSlice)
      let leading = all[..<(slice ?? all.count)]
      let found = summary(bytes)
      #expect(found.firstNALUnit == all.first?.type)
      #expect(found.hasPicture == (slice != nil))
      #expect(found.isKeyFrame == (slice.map { all[$0].type == .idrSlice } ?? false))
      #expect(found.sequenceParameterSet == leading.first { $0.type == .sequenceParameterSet }?.range)
      #expect(found.hasPictureParameterSet == leading.contains { $0.type == .pictureParameterSet })
    }
  }
}
