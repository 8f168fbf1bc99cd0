/** Bundles a TypeScript file of this repository; returns the bundle's path. */
export function bundle(file: string): Promise<string>;
