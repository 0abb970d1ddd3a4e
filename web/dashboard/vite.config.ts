import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const COMPRESSED = /\.(html|js|css|svg)$/;

// Leaves a .gz and a .br beside each text file, so that the gateway compresses nothing itself.
function precompressed(): Plugin {
  return {
    name: 'precompressed',
    apply: 'build',
    writeBundle({ dir = 'dist' }) {
      for (const entry of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
        if (!COMPRESSED.test(entry)) continue;
        const path = join(dir, entry);
        const content = readFileSync(path);
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
      }
    },
  };
}

export default defineConfig({
  base: '/dashboard/',
  // The gateway writes its base path before the addresses in index.html; the files name each other
  // relative to themselves.
  experimental: {
    renderBuiltUrl: (_, { hostType }) => (hostType === 'html' ? undefined : { relative: true }),
  },
  publicDir: false,
  plugins: [precompressed()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0, // the page's Content-Security-Policy lets no data: scripts or styles in
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
