import CGStreamerApp

/// Memory that nobody can map, as that of a device may be.
enum UnreadableMemory {
  nonisolated(unsafe) private static let allocator: UnsafeMutablePointer<GstAllocator>? = {
    let type = g_type_register_static_simple(
      gst_allocator_get_type(), "TestUnreadableAllocator", guint(MemoryLayout<GstAllocatorClass>.size),
      { kind, _ in
        kind?.assumingMemoryBound(to: GstAllocatorClass.self).pointee.free = { _, memory in g_free(memory) }
      }, guint(MemoryLayout<GstAllocator>.size),
      { instance, _ in
        UnsafeMutableRawPointer(instance)?.assumingMemoryBound(to: GstAllocator.self).pointee.mem_map = { _, _, _ in nil
        }
      }, GTypeFlags(rawValue: 0))
    let allocator = g_object_new_with_properties(type, 0, nil, nil)
    gst_object_ref_sink(allocator)
    return allocator.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: GstAllocator.self) }
  }()

  /// A buffer of so many bytes, which belongs to the caller.
  static func buffer(byteCount: Int) throws -> UnsafeMutablePointer<GstBuffer> {
    let memory = g_malloc0(gsize(MemoryLayout<GstMemory>.size)).assumingMemoryBound(to: GstMemory.self)
    gst_memory_init(
      memory, GstMemoryFlags(rawValue: 0), try nonNull(allocator), nil, gsize(byteCount), 0, 0, gsize(byteCount))
    let buffer = try nonNull(gst_buffer_new())
    gst_buffer_append_memory(buffer, memory)
    return buffer
  }
}
