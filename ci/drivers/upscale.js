// upscale MODEL IN.png OUT.png THREADS TILE: makes an image larger with ESRGAN of stable-diffusion.cpp.
//
// Runs in Bare, the JavaScript runtime that the package @qvac/diffusion-cpp is made for; scripts/engine/diffusion.sh
// fetches both.

const { EsrganUpscaler } = require('@qvac/diffusion-cpp')
const fs = require('bare-fs')

async function main () {
  const [model, input, output, threads, tile] = Bare.argv.slice(2)
  const config = { device: 'cpu', threads: Number(threads), upscaler_tile_size: Number(tile) }
  const upscaler = new EsrganUpscaler({ files: { esrgan: model }, config, logger: console })
  await upscaler.load()
  const response = await upscaler.upscale(fs.readFileSync(input), { repeats: 1 })
  const images = []
  await response.onUpdate((data) => { if (data instanceof Uint8Array) images.push(data) }).await()
  if (images.length === 0) throw new Error('the upscaler made no image')
  fs.writeFileSync(output, images[0])
  await upscaler.unload()
}

main()
