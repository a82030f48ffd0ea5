import CGStreamer

/// Threads that carry data through a pipeline, as opposed to those of an application.
public enum StreamingThread {
  /// Whether the calling thread may be one: neither the process's first, nor one that runs a main loop.
  public static var isCurrent: Bool {
    cgst_is_first_thread() == 0 && g_main_context_get_thread_default() == nil
      && g_main_context_is_owner(g_main_context_default()) == 0
  }
}
