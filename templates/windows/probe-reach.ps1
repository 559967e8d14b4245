# Observes which addresses accept a TCP connection. Targets: a list of objects with host and port. TimeoutMs: for each.
[CmdletBinding()]
param($Targets = @(), [int]$TimeoutMs = 3000)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
function Test-TcpPort([string]$Name, [int]$Port, [int]$Milliseconds) {
    $client = New-Object -TypeName 'System.Net.Sockets.TcpClient'
    try {
        if (-not $client.ConnectAsync($Name, $Port).Wait($Milliseconds)) { return 'no answer' }
        return ''
    } catch {
        return [string]$_.Exception.GetBaseException().Message
    } finally {
        $client.Close()
    }
}
$answers = @()
foreach ($target in @($Targets)) {
    $answers += @{
        host = [string]$target.host
        port = [int]$target.port
        problem = [string](Test-TcpPort $target.host $target.port $TimeoutMs)
    }
}
Write-Result -Value @{ answers = @($answers) }
