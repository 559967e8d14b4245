import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/lab/**', 'test/integration/**'] } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'lab',
          include: ['test/lab/**/*.test.ts'],
          exclude: ['test/lab/long/**'],
          globalSetup: ['test/lab/global-setup.ts'],
          testTimeout: 900_000,
          hookTimeout: 900_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'long',
          include: ['test/lab/long/**/*.test.ts'],
          testTimeout: 7_200_000,
          hookTimeout: 900_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
