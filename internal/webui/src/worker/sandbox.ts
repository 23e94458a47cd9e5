// Decoders in WebAssembly of their own, since what they read may be hostile: without files, in bounded memory and time.

const badFile = 8; // WASI's EBADF: there are no files

/**
 * What an instance of a decoder exports. It may use so many bytes and milliseconds; "memory" or "time" is thrown where
 * it wants more. A module looks at both a thousand times a second (internal/imagefile/codec/meter).
 */
export function sandbox(decoder: WebAssembly.Module, bytes: number, milliseconds: number): WebAssembly.Exports {
  const end = performance.now() + milliseconds;
  const noFiles: Record<string, () => number> = {};
  for (const { module, name } of WebAssembly.Module.imports(decoder)) {
    if (module === 'wasi_snapshot_preview1') noFiles[name] = () => badFile;
  }
  const { exports } = new WebAssembly.Instance(decoder, {
    wasi_snapshot_preview1: { ...noFiles, environ_get: () => 0, environ_sizes_get: nothing, proc_exit: exit },
    host: { pause },
  });
  const memory = exports.memory as WebAssembly.Memory;
  (exports._initialize as (() => void) | undefined)?.();
  return exports;

  function pause(): void {
    if (memory.buffer.byteLength > bytes) throw new Error('memory');
    if (performance.now() > end) throw new Error('time');
  }

  /** Says that there are no environment variables. */
  function nothing(count: number, size: number): number {
    const view = new DataView(memory.buffer);
    view.setUint32(count, 0, true);
    view.setUint32(size, 0, true);
    return 0;
  }
}

function exit(): never {
  throw new Error('the decoder ended');
}
