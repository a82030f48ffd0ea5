import X264Encoder

extension NoticeSequence {
  /// Draws and encodes `text`; when it does not fit, the pictures are black.
  ///
  /// - Parameters:
  ///   - settings: those of the stream. The sequence differs in the pixel format, the number of threads, the key-frame
  ///     interval and the options that make repeats small.
  ///   - count: pictures in all, at least one.
  ///   - logLevel: below errors, x264 warns of key frames that are then encoded again, and of the fixed quantizer.
  /// - Throws: ``EncoderError`` as ``X264Encoder`` does; the settings of a running stream cause none.
  package init(
    text: String, settings: EncoderSettings, count: Int = standardCount, logLevel: LogLevel = .error,
    log: @escaping LogHandler
  ) throws(EncoderError) {
    let count = max(count, 1)
    // First, because it refuses impossible sizes.
    var encoder = try X264Encoder(
      settings: settings.still(quantizer: Self.finestQuantizer, count: count), logLevel: logLevel, log: log)
    let picture = NoticePicture(
      text: text, width: settings.width, height: settings.height, isFullRange: settings.color?.isFullRange ?? false)
    let chroma = [UInt8](repeating: 128, count: settings.width / 2 * (settings.height / 2))
    var accessUnits = [try encoder.encode(picture, chroma: chroma, index: 0)]
    for quantizer in Self.coarserQuantizers where accessUnits[0].bytes.count * 8 > settings.keyFrameBits {
      encoder = try X264Encoder(
        settings: settings.still(quantizer: quantizer, count: count), logLevel: logLevel, log: log)
      accessUnits = [try encoder.encode(picture, chroma: chroma, index: 0)]
    }
    for index in 1..<count {
      accessUnits.append(try encoder.encode(picture, chroma: chroma, index: index))
    }
    self.picture = picture
    self.accessUnits = accessUnits
  }

  /// The finest quantizer that the stream itself uses.
  private static let finestQuantizer = 22
  /// Tried one after the other while the key frame is too large. Six steps halve the precision.
  private static let coarserQuantizers = [28, 34, 40, 46, 51]
}

extension EncoderSettings {
  /// Most bits of the key frame: what the stream's own rate control may spend on one, half of the decoder's buffer.
  fileprivate var keyFrameBits: Int { bitrate * 750 }

  /// Options for a still: one key frame only, and repeats in which nothing is coded.
  ///
  /// The rate control would refine the picture for a second or more, with several kilobytes for each repeat. At a fixed
  /// quantizer the error that the key frame left is rounded to nothing. The deblocking filter and adaptive quantizers
  /// change pixels again and again; the search for better predictions is not needed. The options that make up the
  /// sequence parameter set stay.
  fileprivate func still(quantizer: Int, count: Int) -> EncoderSettings {
    var still = self
    still.pixelFormat = .i420
    // One slice per picture: each further one adds a header to each repeat.
    still.threads = 1
    // An interval of 1 would change the sequence parameter set.
    still.keyFrameInterval = max(count, 2)
    still.optionString += ":qpmin=\(quantizer):qpmax=\(quantizer):aq-mode=0:no-deblock=1:deadzone-inter=32:trellis=0"
    still.optionString += ":subme=0:me=dia:partitions=none:scenecut=0"
    return still
  }
}

extension X264Encoder {
  fileprivate func encode(
    _ picture: NoticePicture, chroma: [UInt8], index: Int
  ) throws(EncoderError) -> NoticeSequence.AccessUnit {
    let result = picture.luma.withUnsafeBytes { luma in
      chroma.withUnsafeBytes { chroma -> Result<NoticeSequence.AccessUnit, EncoderError> in
        guard let luma = luma.baseAddress, let chroma = chroma.baseAddress else { return .failure(.encodingFailed) }
        let neutral = Plane(base: chroma, stride: settings.width / 2)
        let planes = Planes(Plane(base: luma, stride: picture.lumaStride), neutral, neutral)
        do throws(EncoderError) {
          let unit = try encode(planes, timestamp: Int64(index))
          return .success(NoticeSequence.AccessUnit(bytes: Array(unit.bytes), isKeyFrame: unit.isKeyFrame))
        } catch {
          return .failure(error)
        }
      }
    }
    return try result.get()
  }
}
