// What Go's compiler ships to run its programs in browsers.
declare class Go {
  readonly importObject: WebAssembly.Imports;
  run(instance: WebAssembly.Instance): Promise<void>;
}

declare module 'go-wasm-exec';
