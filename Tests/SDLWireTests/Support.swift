import SDLWire

/// All items that `decoder` can return now.
func drain(_ decoder: inout FrameDecoder) -> [FrameDecoder.Item] {
  var items: [FrameDecoder.Item] = []
  while let item = decoder.next() { items.append(item) }
  return items
}

/// The items of a stream of `bytes` that arrives at once.
func decode(_ bytes: [UInt8], limits: FrameLimits = FrameLimits()) -> [FrameDecoder.Item] {
  var decoder = FrameDecoder(limits: limits)
  decoder.append(bytes)
  return drain(&decoder)
}

/// The frames in `items`.
func frames(_ items: [FrameDecoder.Item]) -> [Frame] {
  items.compactMap { if case .frame(let frame) = $0 { frame } else { nil } }
}

/// The single frame that `bytes` consist of.
func frame(_ bytes: [UInt8]) throws -> Frame {
  struct NotOneFrame: Error {}
  let items = decode(bytes)
  guard items.count == 1, let frame = frames(items).first, frame.bytes == bytes else { throw NotOneFrame() }
  return frame
}
