import { expect, it } from 'vitest'
import { isHttpUrl } from './http-url.ts'

it.each(['https://api.example.com/v1', ' http://127.0.0.1:8080/v1 ', 'https://[::1]:1/v1?a=b@c', 'https://api.example.com/@scope'])('takes %s', (text) => {
  expect(isHttpUrl(text)).toBe(true)
})

it.each(['', 'api.example.com', 'https:///x', 'file:///etc/passwd', 'https://user:word@api.example.com', 'https://user@api.example.com', 'https://a@b@api.example.com', 'https://:word@api.example.com'])('does not take %s', (text) => {
  expect(isHttpUrl(text)).toBe(false)
})
