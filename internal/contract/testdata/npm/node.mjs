import { readFile, writeFile } from 'node:fs/promises';
import { use } from './use.mjs';

const file = async (name) => new Blob([await readFile(name)]);
const image = await use({
  page: await file('page.jpg'), small: await file('small.png'), heic: await file('photo.heic'),
});
await writeFile('node.png', Buffer.from(await image.arrayBuffer()));
