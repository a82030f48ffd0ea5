import CX264

extension EncoderSettings {
  /// In kbit/s; x264 silently reduces larger rates.
  public static let bitrateRange = 1...2_000_000

  /// Checks what x264 would refuse with a vague message, change silently, or accept with a huge allocation.
  func validate() throws(EncoderError) {
    guard width >= 16, height >= 16 else {
      throw .invalidSize(width: width, height: height, reason: "each side needs at least 16 pixels, one macroblock")
    }
    guard width.isMultiple(of: 2), height.isMultiple(of: 2) else {
      throw .invalidSize(width: width, height: height, reason: "4:2:0 pictures need an even width and height")
    }
    // The largest side is x264's, the largest area that of H.264 level 6.2.
    guard width <= 16_384, height <= 16_384, Self.canEncode(width: width, height: height) else {
      throw .invalidSize(width: width, height: height, reason: "it is larger than any H.264 level allows")
    }
    // Twice the numerator is written as a 32-bit number.
    guard
      (1...0x7FFF_FFFF).contains(frameRate.numerator), (1...0x7FFF_FFFF).contains(frameRate.denominator),
      frameRate.numerator / frameRate.denominator <= 1000
    else {
      throw .invalidFrameRate(frameRate)
    }
    try Self.validate(bitrate: bitrate)
    guard (0...Int(Int32.max)).contains(keyFrameInterval) else { throw .invalidKeyFrameInterval(keyFrameInterval) }
    guard (0...Int(Int32.max)).contains(threads) else { throw .invalidThreadCount(threads) }
  }

  static func validate(bitrate: Int) throws(EncoderError) {
    guard bitrateRange.contains(bitrate) else { throw .invalidBitrate(bitrate) }
  }

  /// What `keyFrameInterval` 0 stands for.
  static let automaticKeyFrameInterval = Duration.seconds(2)

  /// Most frames between key frames with `automatic` resolved to two seconds: at 15 frames per second, 30.
  var keyFrameDistance: Int32 {
    guard keyFrameInterval == 0 else { return Int32(clamping: keyFrameInterval) }
    let twoSeconds = (2 * frameRate.numerator + frameRate.denominator / 2) / frameRate.denominator
    return Int32(clamping: max(twoSeconds, 1))
  }

  /// The size of the decoder's buffer (VBV) that x264 assumes, in kbit.
  ///
  /// `vbvMilliseconds` of the stream or what `rates` ask for, but never less than one frame, which is what x264 needs.
  func vbvBufferSize(_ rates: EncoderRates) -> Int32 {
    let oneFrame = (rates.bitrate * frameRate.denominator + frameRate.numerator - 1) / frameRate.numerator
    let size = min(rates.bitrate * Self.vbvMilliseconds / 1000, rates.bufferSize ?? .max)
    return Int32(clamping: min(max(size, oneFrame, 1), Self.bitrateRange.upperBound))
  }

  /// Long enough that a key frame of a still, which may take half of it, looks like the pictures before it: a map of
  /// 800×480 at 600 kbit/s drops 8.6 dB at each key frame with x264enc's 600 ms, 4.4 dB with 1000 ms, 0.4 dB with this.
  /// Its price is that the worst second of hard moving pictures rises from 1.4 to 1.8 times the target.
  static let vbvMilliseconds = 1500

  /// The number that H.264 levels limit besides the bit rate.
  var macroblocksPerSecond: Int {
    ((width + 15) / 16) * ((height + 15) / 16) * frameRate.numerator / frameRate.denominator
  }

  /// Whether a picture of this size has no more macroblocks than H.264 level 6.2 allows.
  public static func canEncode(width: Int, height: Int) -> Bool {
    ((width + 15) / 16) * ((height + 15) / 16) <= 139_264
  }
}
